//! From arguments as written to arguments by parameter name, checked against the schema. Every
//! refusal says which argument and what is wrong with it, in Python's words.

use callgate_contract::{Arguments, Value};
use jsonschema::{
    PatternOptions, ValidationError, Validator, error::ValidationErrorKind, paths::LocationSegment,
};
use serde_json::Value as Json;

use crate::{annotation::annotation, python, signature::Signature, view::view};

/// Longest piece of a value that an error repeats, in characters.
const SHOWN: usize = 80;

/// Positional arguments by parameter order, then the named ones; in parameter order.
pub(crate) fn bind(
    signature: &Signature,
    arguments: Arguments,
) -> Result<Vec<(String, Value)>, String> {
    let mut slots: Vec<Option<Value>> = vec![None; signature.parameters.len()];
    let mut rest: Vec<(String, Value)> = Vec::new();

    let given = arguments.positional.len();
    let positional = || {
        let parameters = signature.parameters.iter().enumerate();
        parameters.filter(|(_, parameter)| parameter.positional)
    };
    if given > positional().count() {
        return Err(match positional().count() {
            0 => format!("takes no positional arguments, got {given}"),
            1 => format!("takes 1 positional argument, got {given}"),
            most => format!("takes {most} positional arguments, got {given}"),
        });
    }
    for ((index, _), value) in positional().zip(arguments.positional) {
        slots[index] = Some(value);
    }

    for (name, value) in arguments.named {
        let index = signature
            .parameters
            .iter()
            .position(|parameter| parameter.name == name);
        match index {
            Some(index) if slots[index].is_some() => {
                return Err(format!("argument '{name}' is given twice"));
            }
            Some(index) => slots[index] = Some(value),
            None if rest.iter().any(|(other, _)| *other == name) => {
                return Err(format!("argument '{name}' is given twice"));
            }
            None if signature.open => rest.push((name, value)),
            None => return Err(format!("unexpected argument '{name}'")),
        }
    }

    let mut bound = Vec::with_capacity(slots.len() + rest.len());
    for (parameter, slot) in signature.parameters.iter().zip(slots) {
        match slot {
            Some(value) => bound.push((parameter.name.clone(), value)),
            None if parameter.required => {
                return Err(format!("missing argument '{}'", parameter.name));
            }
            None => {}
        }
    }
    bound.extend(rest);
    Ok(bound)
}

/// A method's schema, compiled once.
pub(crate) struct Checker {
    validator: Validator,
    schema: Json,
}

impl Checker {
    pub(crate) fn new(schema: &Json) -> Result<Self, String> {
        if !schema.is_object() {
            return Err("it must be an object".to_owned());
        }
        let validator = jsonschema::options()
            // A schema may come from a client: no pattern of it may backtrack without end, and no
            // reference of it may make us read files or the network.
            .with_pattern_options(PatternOptions::regex())
            .offline()
            .build(schema)
            .map_err(|error| error.to_string())?;
        Ok(Checker {
            validator,
            schema: schema.clone(),
        })
    }

    /// Checks bound arguments; the error names one that is wrong.
    pub(crate) fn check(&self, arguments: &[(String, Value)]) -> Result<(), String> {
        let instance = view(arguments)?;
        let result = self.validator.validate(&instance);
        result.map_err(|error| self.reason(&error, arguments))
    }

    fn reason(&self, error: &ValidationError<'_>, arguments: &[(String, Value)]) -> String {
        let (place, value) = locate(error, arguments);
        let wrong = self.what_is_wrong(error, value);
        match place.is_empty() {
            true => wrong,
            false => format!("argument '{place}' {wrong}"),
        }
    }

    fn what_is_wrong(&self, error: &ValidationError<'_>, value: Option<&Value>) -> String {
        let got = || value.map_or_else(|| "that".to_owned(), describe);
        match error.kind() {
            ValidationErrorKind::Type { .. }
            | ValidationErrorKind::Enum { .. }
            | ValidationErrorKind::Constant { .. }
            | ValidationErrorKind::AnyOf { .. }
            | ValidationErrorKind::OneOfNotValid { .. } => {
                format!("must be {}, not {}", self.expected(error), got())
            }
            ValidationErrorKind::Minimum { limit } => {
                format!("must be at least {limit}, not {}", got())
            }
            ValidationErrorKind::Maximum { limit } => {
                format!("must be at most {limit}, not {}", got())
            }
            ValidationErrorKind::ExclusiveMinimum { limit } => {
                format!("must be more than {limit}, not {}", got())
            }
            ValidationErrorKind::ExclusiveMaximum { limit } => {
                format!("must be less than {limit}, not {}", got())
            }
            ValidationErrorKind::MultipleOf { multiple_of } => {
                format!("must be a multiple of {multiple_of}, not {}", got())
            }
            ValidationErrorKind::MinLength { limit } => {
                format!("must have at least {limit} characters")
            }
            ValidationErrorKind::MaxLength { limit } => {
                format!("must have at most {limit} characters")
            }
            ValidationErrorKind::MinItems { limit } => format!("must have at least {limit} items"),
            ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} items"),
            ValidationErrorKind::MinProperties { limit } => {
                format!("must have at least {limit} keys")
            }
            ValidationErrorKind::MaxProperties { limit } => {
                format!("must have at most {limit} keys")
            }
            ValidationErrorKind::UniqueItems => "must not hold the same item twice".to_owned(),
            ValidationErrorKind::Pattern { pattern } => {
                format!("must match the pattern {pattern}, unlike {}", got())
            }
            ValidationErrorKind::Required { property } => {
                format!("lacks the key {}", python::literal(property))
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let keys: Vec<String> = unexpected.iter().map(|key| python::quote(key)).collect();
                format!("has the unexpected key {}", keys.join(", "))
            }
            _ => format!("is not accepted: {}", error.masked_with("the value")),
        }
    }

    /// The annotation of the schema that failed: the one that holds the failing keyword.
    fn expected(&self, error: &ValidationError<'_>) -> String {
        let path = error.schema_path().as_str();
        let holder = path.rsplit_once('/').map_or("", |(holder, _)| holder);
        match self.schema.pointer(holder) {
            Some(schema) => annotation(schema, &self.schema),
            None => "something else".to_owned(),
        }
    }
}

/// Where the error is (`items[3].name`), and the value there.
fn locate<'a>(
    error: &ValidationError<'_>,
    arguments: &'a [(String, Value)],
) -> (String, Option<&'a Value>) {
    let mut place = String::new();
    let mut value: Option<&Value> = None;
    for (step, segment) in error.instance_path().segments().enumerate() {
        match segment {
            LocationSegment::Property(name) if step == 0 => {
                place.push_str(&name);
                let argument = arguments.iter().find(|(other, _)| *other == name);
                value = argument.map(|(_, value)| value);
            }
            LocationSegment::Property(name) => {
                place.push('.');
                place.push_str(&name);
                value = value
                    .and_then(|value| match value {
                        Value::Dict(entries) => {
                            entries.iter().find(|(key, _)| key.as_str() == Some(&name))
                        }
                        _ => None,
                    })
                    .map(|(_, value)| value);
            }
            LocationSegment::Index(index) => {
                place.push_str(&format!("[{index}]"));
                value = value.and_then(|value| match value {
                    Value::List(items) | Value::Tuple(items) => items.get(index),
                    Value::Set(items) | Value::FrozenSet(items) => items.get(index),
                    _ => None,
                });
            }
        }
    }
    (place, value)
}

/// `str 'three'`: the type, and the value where it is short.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            format!("{} {}", value.type_name(), python::repr(value))
        }
        Value::Str(text) => {
            let shown: String = text.chars().take(SHOWN).collect();
            let more = if shown.len() < text.len() { "..." } else { "" };
            format!("str {}{more}", python::quote(&shown))
        }
        other => other.type_name().to_owned(),
    }
}
