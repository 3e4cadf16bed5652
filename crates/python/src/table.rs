//! Tables that others see without a copy: Arrow by its C stream interface, NumPy by its array interface.

use crate::error;
use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, RecordBatchIterator};
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use truckee_lab::store::{Columns, batch};

/// A table of named columns.
#[pyclass(frozen, module = "truckee._native")]
#[derive(Debug)]
pub struct Table(RecordBatch);

impl Table {
    /// Of these columns.
    pub fn of(columns: Columns) -> PyResult<Self> {
        batch(columns).map(Self).map_err(error::internal)
    }
}

#[pymethods]
impl Table {
    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// A column by its name.
    fn column(&self, name: &str) -> PyResult<Column> {
        let column = self.0.column_by_name(name).cloned();
        column.map(Column).ok_or_else(|| {
            let known = self.column_names().join(", ");
            PyKeyError::new_err(format!("there is no column \"{name}\", only {known}"))
        })
    }

    /// What Arrow's libraries take it by, without a copy: <https://arrow.apache.org/docs/format/CDataInterface>.
    #[pyo3(signature = (requested_schema = None) -> "object")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that wants other types converts them; the protocol allows not to.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The same of its columns' names and types.
    #[pyo3(signature = () -> "object")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(error::internal)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

/// A column of a table.
#[pyclass(frozen, module = "truckee._native")]
#[derive(Debug)]
pub struct Column(ArrayRef);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// How many rows have no value. In a column of real numbers NaN stands there.
    #[getter]
    fn null_count(&self) -> usize {
        self.0.null_count()
    }

    /// Whether it is of numbers, which NumPy can look at where they are.
    #[getter]
    fn is_numeric(&self) -> bool {
        matches!(self.0.data_type(), DataType::Float64 | DataType::UInt64 | DataType::UInt32)
    }

    /// Where NumPy finds the numbers: <https://numpy.org/doc/stable/reference/arrays.interface.html>, version 3.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let at = match self.0.data_type() {
            DataType::Float64 => self.numbers::<Float64Type>("<f8"),
            DataType::UInt64 if self.0.null_count() == 0 => self.numbers::<UInt64Type>("<u8"),
            DataType::UInt32 if self.0.null_count() == 0 => self.numbers::<UInt32Type>("<u4"),
            other => {
                let missing = self.0.null_count();
                return Err(PyTypeError::new_err(format!(
                    "a column of {other} of which {missing} are missing is no array of numbers"
                )));
            }
        };
        let (pointer, kind) = at;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("typestr", kind)?;
        // Read-only: others may look at the same numbers.
        interface.set_item("data", (pointer, true))?;
        Ok(interface.into_any())
    }

    /// What a row says; `None` where it says nothing.
    fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let column = &self.0;
        if row >= column.len() {
            return Err(PyIndexError::new_err(format!("row {row} of {}", column.len())));
        }
        if column.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        match column.data_type() {
            DataType::Float64 => {
                column.as_primitive::<Float64Type>().value(row).into_pyobject(py).map(Bound::into_any)
            }
            DataType::UInt64 => {
                column.as_primitive::<UInt64Type>().value(row).into_pyobject(py).map(Bound::into_any)
            }
            DataType::UInt32 => {
                column.as_primitive::<UInt32Type>().value(row).into_pyobject(py).map(Bound::into_any)
            }
            DataType::Boolean => Ok(column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any()),
            DataType::Utf8 => Ok(column.as_string::<i32>().value(row).into_pyobject(py)?.into_any()),
            other => return Err(error::internal(format!("a column of {other}"))),
        }
        .map_err(PyErr::from)
    }

    /// What all rows say.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.0.len()).map(|row| self.value(py, row)).collect()
    }
}

impl Column {
    fn numbers<T: ArrowPrimitiveType>(&self, kind: &'static str) -> (usize, &'static str) {
        (self.0.as_primitive::<T>().values().as_ptr() as usize, kind)
    }
}
