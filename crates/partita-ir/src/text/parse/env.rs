//! Environments of arrays, in all three spellings.

use std::sync::Arc;

use super::super::error::SyntaxError;
use super::super::lexer::Kind;
use super::{Failed, Parsed, Parser};
use crate::attr::{Attr, Attrs, DialectAttr};
use crate::types::{DistEnv, Env, Grid, MAX_CUTS, Size};

/// What was read of a distribution, before it is judged.
struct Raw {
    team: Attr,
    loffs: Vec<Size>,
    lparts: Vec<Vec<Size>>,
    grid: Option<(Vec<Size>, Vec<i64>)>,
}

impl Parser<'_> {
    /// An environment of an array of `ndim` dimensions.
    pub(super) fn env(&mut self, ndim: usize) -> Parsed<Env> {
        let at = self.token.start;
        match self.attr()? {
            Attr::Dialect(DialectAttr::Env(env)) => self.fitting(*env, ndim, at),
            Attr::Other(text) if text.starts_with('#') => Ok(Env::Other(Attr::Other(text))),
            _ => {
                let wanted = "an environment such as #dist.dist_env<..>".to_string();
                let found = "another attribute".to_string();
                Err(self.fail(SyntaxError::Expected { wanted, found }, at))
            }
        }
    }

    /// Whether a distribution has the array's number of dimensions.
    fn fitting(&mut self, env: Env, ndim: usize, at: usize) -> Parsed<Env> {
        let Env::Dist(dist) = &env else { return Ok(env) };
        let error = if dist.loffs.is_empty() && ndim > 0 {
            SyntaxError::OffsetsMissing { ndim }
        } else if dist.loffs.len() != ndim {
            SyntaxError::PartDims { n_dims: dist.loffs.len(), ndim }
        } else {
            return Ok(env);
        };
        Err(self.fail(error, at))
    }

    /// What follows `#dist.dist_env`.
    pub(super) fn dist_env(&mut self) -> Parsed<Env> {
        let at = self.token.start;
        self.mark('<')?;
        let raw = match self.is_word("team") {
            true => self.dist_env_by_words()?,
            false => self.dist_env_by_place()?,
        };
        if !self.is_mark('>') {
            return Err(self.expected("`>` to close dist_env"));
        }
        self.advance()?;
        self.judged(raw, at)
    }

    /// `team = 1 grid = [2, 2] cut = [0, 1] loffs = 2,0 lparts = 0x0,..`
    fn dist_env_by_words(&mut self) -> Parsed<Raw> {
        self.word("team")?;
        self.mark('=')?;
        let team = self.attr()?;
        let grid = self.grid_by_words()?;
        let (mut loffs, mut lparts) = (Vec::new(), Vec::new());
        if self.take_word("loffs")? {
            self.mark('=')?;
            loffs = self.offsets()?;
            self.word("lparts")?;
            self.mark('=')?;
            lparts = self.shapes()?;
        }
        Ok(Raw { team, loffs, lparts, grid })
    }

    /// `22,0`: as shapes of one size each.
    fn offsets(&mut self) -> Parsed<Vec<Size>> {
        let at = self.token.start;
        let shapes = self.shapes()?;
        match shapes.iter().all(|shape| shape.len() == 1) {
            true => Ok(shapes.into_iter().flatten().collect()),
            false => {
                let wanted = "offsets with commas between them".to_string();
                Err(self.fail(SyntaxError::Expected { wanted, found: "`x`".into() }, at))
            }
        }
    }

    fn grid_by_words(&mut self) -> Parsed<Option<(Vec<Size>, Vec<i64>)>> {
        if !self.take_word("grid")? {
            return Ok(None);
        }
        self.mark('=')?;
        self.mark('[')?;
        let shape = self.list_until(']', Self::size)?;
        self.word("cut")?;
        self.mark('=')?;
        self.mark('[')?;
        Ok(Some((shape, self.list_until(']', Self::signed)?)))
    }

    fn size(&mut self) -> Parsed<Size> {
        if self.take('?')? {
            return Ok(Size::Dynamic);
        }
        let at = self.token.start;
        let number = self.signed()?;
        self.size_of(number, at)
    }

    fn size_of(&mut self, number: i64, at: usize) -> Parsed<Size> {
        Size::from_i64(number)
            .ok_or(())
            .map_err(|()| self.too_large(&number.to_string(), "a size below 2^63", at))
    }

    /// `1 : i64, array<i64: 22>, [array<i64: 0>, ..], array<i64: 2, 2>, array<i64: 0, 1>`
    fn dist_env_by_place(&mut self) -> Parsed<Raw> {
        let at = self.token.start;
        let parts = self.list_of_attrs()?;
        let raw = raw_of(&parts);
        raw.ok_or(()).map_err(|()| self.bad_env(at))
    }

    fn list_of_attrs(&mut self) -> Parsed<Vec<Attr>> {
        let mut attrs = vec![self.attr()?];
        while self.take(',')? {
            attrs.push(self.attr()?);
        }
        Ok(attrs)
    }

    fn bad_env(&mut self, at: usize) -> Failed {
        let wanted = "a team, array<i64: offsets> and [array<i64: sizes>, ..], for a grid also \
                      array<i64: grid>, array<i64: cut dimensions>"
            .to_string();
        self.fail(SyntaxError::Expected { wanted, found: "something else".into() }, at)
    }

    /// Checks what does not depend on the array, and adds the halos that one part goes without.
    fn judged(&mut self, raw: Raw, at: usize) -> Parsed<Env> {
        let ndim = raw.loffs.len();
        if let Some(part) = raw.lparts.iter().find(|part| part.len() != ndim) {
            let error = SyntaxError::PartDims { n_dims: part.len(), ndim };
            return Err(self.fail(error, at));
        }
        let grid = match raw.grid {
            Some((shape, cut)) => Some(self.judged_grid(shape, &cut, ndim, at)?),
            None => None,
        };
        let mut env = DistEnv { team: raw.team, loffs: raw.loffs, lparts: raw.lparts, grid };
        let wanted = env.n_parts();
        if ndim > 0 && env.lparts.len() == 1 && wanted > 1 {
            let empty = vec![Size::Known(0); ndim];
            env.lparts.resize(wanted, empty);
            env.lparts.swap(0, wanted / 2);
        }
        if ndim == 0 {
            env.lparts.retain(|part| !part.is_empty());
        } else if env.lparts.len() != wanted {
            let n_parts = env.lparts.len();
            let wanted = format!("1 or {wanted}: halos and, in the middle, what is owned");
            return Err(self.fail(SyntaxError::PartsCount { n_parts, wanted }, at));
        }
        Ok(Env::Dist(env.into()))
    }

    fn judged_grid(
        &mut self,
        shape: Vec<Size>,
        cut: &[i64],
        ndim: usize,
        at: usize,
    ) -> Parsed<Grid> {
        let dims: Vec<usize> = cut.iter().filter_map(|dim| usize::try_from(*dim).ok()).collect();
        let sorted = dims.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = dims.iter().all(|dim| *dim < ndim) && dims.len() == cut.len();
        if shape.len() != cut.len() {
            let error = SyntaxError::GridAxes { n_axes: shape.len(), n_cuts: cut.len() };
            return Err(self.fail(error, at));
        }
        if !sorted || !inside || dims.is_empty() || dims.len() > MAX_CUTS {
            return Err(self.fail(SyntaxError::CutDims { cut: cut.to_vec(), ndim }, at));
        }
        Ok(Grid { shape, cut: dims })
    }

    /// What follows `#region.gpu_env`.
    pub(super) fn gpu_env(&mut self) -> Parsed<Env> {
        self.mark('<')?;
        if self.take_word("device")? {
            self.mark('=')?;
        }
        let device = self.string()?;
        self.mark('>')?;
        Ok(Env::Gpu(device.into()))
    }

    /// What follows `#partition.encoding`.
    pub(super) fn partition_encoding(&mut self) -> Parsed<Attr> {
        self.mark('<')?;
        let sparse = self.attr()?;
        self.mark(',')?;
        self.mark('[')?;
        let dims = self.list_until(']', Self::placement)?;
        self.mark('>')?;
        Ok(Attr::Dialect(DialectAttr::Partition { sparse: sparse.into(), dims: dims.into() }))
    }

    fn placement(&mut self) -> Parsed<crate::attr::Placement> {
        let at = self.token.start;
        let name = match self.token.kind {
            Kind::Word => {
                let name = self.token_text().to_string();
                self.advance()?;
                name
            }
            _ => self.string()?,
        };
        crate::attr::Placement::from_name(&name)
            .ok_or(())
            .map_err(|()| self.fail(SyntaxError::PlacementName { name }, at))
    }

    /// Whether a tensor's dictionary says that it is one of our arrays.
    pub(super) fn is_array_dict(dict: &Attrs) -> bool {
        ["ndarray.array", "dist.team", "region.device"].iter().any(|key| dict.get(key).is_some())
    }

    /// The environments in a tensor's dictionary.
    pub(super) fn envs_of_dict(
        &mut self,
        dict: &Attrs,
        ndim: usize,
        at: usize,
    ) -> Parsed<Vec<Env>> {
        let mut envs = Vec::new();
        if let Some(Attr::Array(others)) = dict.get("ndarray.envs") {
            envs.extend(others.iter().map(|attr| Env::Other(attr.clone())));
        }
        if let Some(team) = dict.get("dist.team") {
            let keys = ["dist.loffs", "dist.lparts", "dist.grid", "dist.cut"];
            let mut parts = vec![team.clone()];
            parts.extend(keys.iter().map_while(|key| dict.get(key).cloned()));
            let raw = raw_of(&parts).ok_or(()).map_err(|()| self.bad_env(at))?;
            let env = self.judged(raw, at)?;
            envs.push(self.fitting(env, ndim, at)?);
        }
        if let Some(device) = dict.get("region.device").and_then(Attr::as_str) {
            let before = dict.get("region.before_dist").is_some();
            let place = if before { 0 } else { envs.len() };
            envs.insert(place, Env::Gpu(Arc::from(device)));
        }
        Ok(envs)
    }
}

/// A distribution from the list of its parts.
fn raw_of(parts: &[Attr]) -> Option<Raw> {
    let sizes = |attr: &Attr| -> Option<Vec<Size>> {
        attr.as_i64s()?.iter().map(|number| Size::from_i64(*number)).collect()
    };
    let (three, grid) = match parts {
        [team, loffs, lparts] => ([team, loffs, lparts], None),
        [team, loffs, lparts, grid, cut] => {
            ([team, loffs, lparts], Some((sizes(grid)?, cut.as_i64s()?.to_vec())))
        }
        _ => return None,
    };
    let Attr::Array(shapes) = three[2] else { return None };
    let lparts = shapes.iter().map(sizes).collect::<Option<_>>()?;
    Some(Raw { team: three[0].clone(), loffs: sizes(three[1])?, lparts, grid })
}
