//! Arrays of the model.

use std::cell::RefCell;
use std::rc::Rc;

use crate::passes::fold::Range;

/// A window on memory of one rank.
#[derive(Debug, Clone)]
pub struct Local {
    memory: Rc<RefCell<Vec<f64>>>,
    start: i64,
    /// Sizes of the dimensions.
    pub shape: Vec<i64>,
    strides: Vec<i64>,
}

/// A distributed array on one rank.
#[derive(Debug, Clone)]
pub struct Dist {
    /// Global sizes.
    pub shape: Vec<i64>,
    /// Cut dimensions.
    pub cut: Vec<usize>,
    /// Global offset of the first part.
    pub offset: Vec<i64>,
    /// The parts, as the types list them; one for an array without dimensions.
    pub parts: Vec<Local>,
}

impl Local {
    /// New memory, filled with a number; none at all without data.
    #[must_use]
    pub fn new(shape: &[i64], value: f64, with_data: bool) -> Self {
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim];
        }
        let n = if with_data { shape.iter().product::<i64>().max(0) as usize } else { 0 };
        let memory = Rc::new(RefCell::new(vec![value; n]));
        Self { memory, start: 0, shape: shape.to_vec(), strides }
    }

    /// A strided window; nothing if it reaches outside.
    #[must_use]
    pub fn window(&self, offsets: &[i64], sizes: &[i64], strides: &[i64]) -> Option<Self> {
        let mut view = Self { shape: sizes.to_vec(), ..self.clone() };
        for dim in 0..self.shape.len() {
            let (offset, size, stride) = (*offsets.get(dim)?, *sizes.get(dim)?, *strides.get(dim)?);
            let last = offset + (size - 1).max(0) * stride;
            let inside = |index: i64| (0..self.shape[dim]).contains(&index);
            let fits = size == 0 && (0..=self.shape[dim]).contains(&offset)
                || size > 0 && inside(offset) && inside(last);
            if !fits {
                return None;
            }
            view.start += offset * self.strides[dim];
            view.strides[dim] = self.strides[dim] * stride;
        }
        Some(view)
    }

    /// Drops all dimensions but some; those that go have the size 1.
    pub fn keep(&mut self, dims: &[usize]) {
        self.shape = dims.iter().map(|dim| self.shape[*dim]).collect();
        self.strides = dims.iter().map(|dim| self.strides[*dim]).collect();
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> i64 {
        self.shape.iter().product()
    }

    /// The elements in C order; none without data.
    #[must_use]
    pub fn read(&self) -> Vec<f64> {
        let memory = self.memory.borrow();
        if memory.is_empty() {
            return Vec::new();
        }
        self.places().into_iter().map(|place| memory[place]).collect()
    }

    /// Writes elements in C order.
    pub fn write(&self, data: &[f64]) {
        let places = self.places();
        let mut memory = self.memory.borrow_mut();
        if !memory.is_empty() {
            for (place, value) in places.into_iter().zip(data) {
                memory[place] = *value;
            }
        }
    }

    fn places(&self) -> Vec<usize> {
        let mut places = vec![self.start];
        for (size, stride) in self.shape.iter().zip(&self.strides) {
            let steps = 0..*size;
            places = places
                .into_iter()
                .flat_map(|place| steps.clone().map(move |step| place + step * stride))
                .collect();
        }
        places.into_iter().map(|place| place as usize).collect()
    }
}

impl Dist {
    /// Nothing but an owned part.
    #[must_use]
    pub fn owned_alone(shape: &[i64], cut: &[usize], offset: &[i64], own: Local) -> Self {
        let n_parts = 3_usize.pow(cut.len() as u32);
        let empty = Local::new(&vec![0; shape.len()], 0.0, false);
        let mut parts = vec![empty; n_parts];
        parts[n_parts / 2] = own;
        Self { shape: shape.to_vec(), cut: cut.to_vec(), offset: offset.to_vec(), parts }
    }

    /// The owned part.
    #[must_use]
    pub fn own(&self) -> &Local {
        &self.parts[self.parts.len() / 2]
    }

    /// For each dimension where before, owned and after begin, and where the last ends.
    #[must_use]
    pub fn bounds(&self) -> Vec<[i64; 4]> {
        let middle = self.parts.len() / 2;
        let bounds = |dim: usize| {
            let (start, own) = (self.offset[dim], self.parts[middle].shape[dim]);
            let axis = self.cut.iter().position(|cut| *cut == dim);
            let Some(axis) = axis.filter(|_| self.parts.len() > 1) else {
                return [start, start, start + own, start + own];
            };
            let step = 3_usize.pow((self.cut.len() - 1 - axis) as u32);
            let before = self.parts[middle - step].shape[dim];
            let after = self.parts[middle + step].shape[dim];
            [start, start + before, start + before + own, start + before + own + after]
        };
        (0..self.shape.len()).map(bounds).collect()
    }

    /// The box of one part.
    #[must_use]
    pub fn part_box(&self, part: usize) -> Vec<Range> {
        let mut rest = part;
        let mut at = vec![1; self.shape.len()];
        for dim in self.cut.iter().rev() {
            at[*dim] = rest % 3;
            rest /= 3;
        }
        let bounds = self.bounds();
        let range =
            |(marks, at): (&[i64; 4], &usize)| Range::new(marks[*at], marks[*at + 1] - marks[*at]);
        bounds.iter().zip(&at).map(range).collect()
    }

    /// The box of all parts.
    #[must_use]
    pub fn held(&self) -> Vec<Range> {
        self.bounds().iter().map(|marks| Range::new(marks[0], marks[3] - marks[0])).collect()
    }

    /// The box of the owned part.
    #[must_use]
    pub fn owned(&self) -> Vec<Range> {
        self.bounds().iter().map(|marks| Range::new(marks[1], marks[2] - marks[1])).collect()
    }
}
