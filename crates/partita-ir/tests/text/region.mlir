// Operations on a device, with a value from outside and one that comes back.
!g = !ndarray.ndarray<4xf64, #region.gpu_env<device = "a">>
func.func @region(%g: !g) -> !g {
  %r = "region.env_region"(%g) ({
  ^bb0(%inner: !g):
    %s = ndarray.ewbin add %inner, %inner : (!g, !g) -> !g
    region.env_region_yield results %s : (!g)
  }) {environment = #region.gpu_env<device = "a">} : (!g) -> !g
  return %r : !g
}
