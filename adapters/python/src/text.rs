//! Values of Python as text: arguments and results.
//!
//! A container becomes JSON. The writer keeps its own stack, so a value of any depth is written without
//! recursion. No value is an error: what is no JSON becomes the text that `README.md` documents.

use std::collections::HashSet;
use std::io::Write as _;

use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping,
    PyMemoryView, PySet, PyString, PyTuple, PyType,
};
use unstuck::Payload;

/// The deepest nesting that is written. A deeper container becomes [`ELLIPSIS`].
const DEPTH_MAX: usize = 10_000;

/// Stands for a container inside itself, as in Python's own texts.
const ELLIPSIS: &[u8] = b"\"...\"";

/// The largest number of times that one value may ask to be written as another.
const STAND_INS_MAX: usize = 8;

/// The text of a value.
pub(crate) enum Text<'p> {
    Borrowed(&'p str),
    Owned(String),
}

impl<'p> Text<'p> {
    /// Returns the text of `value`: text and bytes as they are, and containers as JSON.
    pub(crate) fn of(value: &'p Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            return text.to_str().map(Self::Borrowed).or_else(|_| escaped(text).map(Self::Owned));
        }
        match Value::of(value)? {
            Value::Str(text) => string(&text).map(Self::Owned),
            Value::Text(text) => Ok(Self::Owned(text)),
            value => Writer::default().write(value).map(Self::Owned),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

/// Returns the text of a string of Python.
fn string(text: &Bound<'_, PyString>) -> PyResult<String> {
    text.to_str().map(str::to_owned).or_else(|_| escaped(text))
}

/// Returns a text that has lone surrogates, with `\udc80` in place of each.
fn escaped(text: &Bound<'_, PyString>) -> PyResult<String> {
    let bytes = text.call_method1(intern!(text.py(), "encode"), ("utf-8", "backslashreplace"))?;
    Ok(String::from_utf8_lossy(bytes.cast::<PyBytes>()?.as_bytes()).into_owned())
}

/// A value, sorted by the way in which it is written.
enum Value<'py> {
    Null,
    Bool(bool),
    Int(Bound<'py, PyInt>),
    Float(Bound<'py, PyFloat>),
    Str(Bound<'py, PyString>),
    /// The text of a value that is no string.
    Text(String),
    /// A container, with its items or pairs.
    Items(Bound<'py, PyAny>, Bound<'py, PyList>),
    Tuple(Bound<'py, PyTuple>),
    Pairs(Bound<'py, PyAny>, Bound<'py, PyList>),
}

impl<'py> Value<'py> {
    fn of(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        // Most values have exactly one of these types.
        if let Ok(text) = value.cast_exact::<PyString>() {
            return Ok(Self::Str(text.clone()));
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            return Ok(Self::Pairs(value.clone(), dict.items()));
        }
        if let Ok(list) = value.cast_exact::<PyList>() {
            return Ok(Self::Items(value.clone(), list.clone()));
        }
        if value.is_none() {
            return Ok(Self::Null);
        }
        if let Ok(truth) = value.cast_exact::<PyBool>() {
            return Ok(Self::Bool(truth.is_true()));
        }
        if let Ok(int) = value.cast_exact::<PyInt>() {
            return Ok(Self::Int(int.clone()));
        }
        if let Ok(float) = value.cast_exact::<PyFloat>() {
            return Ok(Self::Float(float.clone()));
        }
        Self::of_any(value)
    }

    /// Sorts a value of any type. A value whose own code fails is written as its type.
    fn of_any(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        match Self::by_its_code(value) {
            Err(error) if error.is_instance_of::<PyException>(value.py()) => {
                Ok(Self::Text(format!("<{}>", value.get_type().fully_qualified_name()?)))
            }
            sorted => sorted,
        }
    }

    fn by_its_code(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut value = value.clone();
        for _ in 0..STAND_INS_MAX {
            if let Some(sorted) = Self::built_in(&value)? {
                return Ok(sorted);
            }
            match stand_in(&value)? {
                Some(other) => value = other,
                None => return text_of(&value).map(Self::Text),
            }
        }
        text_of(&value).map(Self::Text)
    }

    /// Sorts a value of a built-in type, or of a subclass of one.
    fn built_in(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let py = value.py();
        Ok(Some(if value.is_none() {
            Self::Null
        } else if let Ok(text) = value.cast::<PyString>() {
            Self::Str(text.clone())
        } else if let Ok(truth) = value.cast::<PyBool>() {
            Self::Bool(truth.is_true())
        } else if let Ok(int) = value.cast::<PyInt>() {
            Self::Int(int.clone())
        } else if let Ok(float) = value.cast::<PyFloat>() {
            Self::Float(float.clone())
        } else if let Ok(dict) = value.cast::<PyDict>() {
            Self::Pairs(value.clone(), dict.items())
        } else if let Ok(list) = value.cast::<PyList>() {
            Self::Items(value.clone(), list.clone())
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            Self::Tuple(tuple.clone())
        } else if let Ok(bytes) = value.cast::<PyBytes>() {
            Self::Text(Payload::from(bytes.as_bytes()).as_str().to_owned())
        } else if let Ok(bytes) = value.cast::<PyByteArray>() {
            Self::Text(Payload::from(&bytes.to_vec()).as_str().to_owned())
        } else if value.is_instance_of::<PyMemoryView>() {
            let bytes: Vec<u8> = value.call_method0(intern!(py, "tobytes"))?.extract()?;
            Self::Text(Payload::from(&bytes).as_str().to_owned())
        } else if value.is_instance_of::<PySet>() || value.is_instance_of::<PyFrozenSet>() {
            Self::Items(value.clone(), sorted(value)?)
        } else if let Ok(mapping) = value.cast::<PyMapping>() {
            Self::Pairs(value.clone(), mapping.items()?)
        } else {
            return Ok(None);
        }))
    }
}

/// Returns the members of a set in an order that is the same in every process.
fn sorted<'py>(set: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = set.py();
    let members = PyList::empty(py);
    for member in set.try_iter()? {
        members.append(member?)?;
    }
    let by_text = PyDict::new(py);
    by_text.set_item(intern!(py, "key"), py.get_type::<PyString>())?;
    members.call_method(intern!(py, "sort"), (), Some(&by_text))?;
    Ok(members)
}

/// Returns the value that stands for an enumeration's member, a dataclass or a pydantic model.
fn stand_in<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static FIELDS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (py, kind) = (value.py(), value.get_type());
    if value.is_instance_of::<PyType>() {
        return Ok(None);
    }
    if value.is_instance(ENUM.import(py, "enum", "Enum")?)? {
        return value.getattr(intern!(py, "value")).map(Some);
    }
    if kind.hasattr(intern!(py, "model_dump"))? {
        return value.call_method0(intern!(py, "model_dump")).map(Some);
    }
    if kind.hasattr(intern!(py, "__dataclass_fields__"))? {
        let members = PyDict::new(py);
        for field in FIELDS.import(py, "dataclasses", "fields")?.call1((value,))?.try_iter()? {
            let name = field?.getattr(intern!(py, "name"))?;
            members.set_item(&name, value.getattr(name.cast::<PyString>()?)?)?;
        }
        return Ok(Some(members.into_any()));
    }
    Ok(None)
}

/// Returns the `str` of a value without addresses, which differ between equal values. An exception has the
/// name of its type before its text.
fn text_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = string(&value.str()?)?;
    if value.is_instance_of::<PyBaseException>() {
        let kind = value.get_type().qualname()?;
        return Ok(format!("{kind}: {text}"));
    }
    Ok(without_addresses(&text))
}

/// Removes each ` at 0x7f3a…`.
fn without_addresses(text: &str) -> String {
    const MARK: &str = " at 0x";
    let mut parts = text.split(MARK);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        if rest.len() == part.len() {
            kept.push_str(MARK);
        }
        kept.push_str(rest);
    }
    kept
}

/// Writes values as JSON.
#[derive(Default)]
struct Writer<'py> {
    /// The JSON so far, in UTF-8.
    json: Vec<u8>,
    open: Vec<Container<'py>>,
    /// The addresses of the open containers.
    holders: HashSet<usize>,
}

/// Returns the address of a value, which is its own while it is held.
fn address(value: &Bound<'_, PyAny>) -> usize {
    value.as_ptr().addr()
}

/// A member of a container, with its key if it has one.
type Item<'py> = (Option<Bound<'py, PyAny>>, Bound<'py, PyAny>);

/// A container that is being written.
struct Container<'py> {
    holder: Bound<'py, PyAny>,
    items: Items<'py>,
    is_first: bool,
}

enum Items<'py> {
    List(Bound<'py, PyList>, usize),
    Tuple(Bound<'py, PyTuple>, usize),
    Pairs(Bound<'py, PyList>, usize),
}

impl<'py> Items<'py> {
    const fn brackets(&self) -> (u8, u8) {
        match self {
            Self::List(..) | Self::Tuple(..) => (b'[', b']'),
            Self::Pairs(..) => (b'{', b'}'),
        }
    }

    /// Returns the next item, with its key.
    fn next(&mut self) -> PyResult<Option<Item<'py>>> {
        match self {
            // The code of an item may have changed the list.
            Self::List(list, at) if *at < list.len() => {
                let item = list.get_item(*at)?;
                *at += 1;
                Ok(Some((None, item)))
            }
            Self::Tuple(tuple, at) if *at < tuple.len() => {
                let item = tuple.get_item(*at)?;
                *at += 1;
                Ok(Some((None, item)))
            }
            Self::Pairs(pairs, at) if *at < pairs.len() => {
                let pair = pairs.get_item(*at)?;
                *at += 1;
                let (key, item) = pair.extract()?;
                Ok(Some((Some(key), item)))
            }
            _ => Ok(None),
        }
    }
}

impl<'py> Writer<'py> {
    fn write(mut self, value: Value<'py>) -> PyResult<String> {
        self.put(value)?;
        while let Some(container) = self.open.last_mut() {
            let Some((key, item)) = container.items.next()? else {
                self.json.push(container.items.brackets().1);
                self.holders.remove(&address(&container.holder));
                self.open.pop();
                continue;
            };
            if !std::mem::replace(&mut container.is_first, false) {
                self.json.push(b',');
            }
            if let Some(key) = key {
                self.put_key(&key)?;
            }
            self.put(Value::of(&item)?)?;
        }
        Ok(String::from_utf8(self.json)?)
    }

    /// Writes a value, or opens it if it is a container.
    fn put(&mut self, value: Value<'py>) -> PyResult<()> {
        match value {
            Value::Null => self.json.extend_from_slice(b"null"),
            Value::Bool(truth) => {
                self.json.extend_from_slice(if truth { b"true".as_slice() } else { b"false" });
            }
            Value::Int(int) => self.put_int(&int)?,
            Value::Float(float) => self.put_float(&float)?,
            Value::Str(text) => match text.to_str() {
                Ok(text) => quote(&mut self.json, text),
                Err(_) => quote(&mut self.json, &escaped(&text)?),
            },
            Value::Text(text) => quote(&mut self.json, &text),
            Value::Items(holder, items) => self.open(holder, Items::List(items, 0)),
            Value::Tuple(tuple) => self.open(tuple.clone().into_any(), Items::Tuple(tuple, 0)),
            Value::Pairs(holder, pairs) => self.open(holder, Items::Pairs(pairs, 0)),
        }
        Ok(())
    }

    fn open(&mut self, holder: Bound<'py, PyAny>, items: Items<'py>) {
        if self.open.len() >= DEPTH_MAX || !self.holders.insert(address(&holder)) {
            self.json.extend_from_slice(ELLIPSIS);
            return;
        }
        self.json.push(items.brackets().0);
        self.open.push(Container { holder, items, is_first: true });
    }

    /// Writes the key of a member: what is no text becomes the text of its JSON.
    fn put_key(&mut self, key: &Bound<'py, PyAny>) -> PyResult<()> {
        match Value::of(key)? {
            value @ (Value::Str(_) | Value::Text(_)) => self.put(value)?,
            value => quote(&mut self.json, &Writer::default().write(value)?),
        }
        self.json.push(b':');
        Ok(())
    }

    fn put_int(&mut self, int: &Bound<'py, PyInt>) -> PyResult<()> {
        if let Ok(small) = int.extract::<i64>() {
            // Writing to memory cannot fail.
            let _ = write!(self.json, "{small}");
        } else if let Ok(large) = int.extract::<i128>() {
            let _ = write!(self.json, "{large}");
        } else {
            // Python writes no decimals of more than 4,300 digits.
            let digits = int.call_method1(intern!(int.py(), "__format__"), ("#x",))?;
            quote(&mut self.json, &digits.extract::<String>()?);
        }
        Ok(())
    }

    /// Writes a number in Python's digits, which are not always those of Rust.
    fn put_float(&mut self, float: &Bound<'py, PyFloat>) -> PyResult<()> {
        let value = float.value();
        if value.is_nan() {
            quote(&mut self.json, "NaN");
        } else if value.is_infinite() {
            quote(&mut self.json, if value > 0.0 { "Infinity" } else { "-Infinity" });
        } else {
            // A subclass may have other texts.
            self.json
                .extend_from_slice(PyFloat::new(float.py(), value).repr()?.to_str()?.as_bytes());
        }
        Ok(())
    }
}

/// Writes `text` as a string of JSON.
fn quote(json: &mut Vec<u8>, text: &str) {
    // A string always has a JSON form, and writing to memory cannot fail.
    let _ = serde_json::to_writer(json, text);
}
