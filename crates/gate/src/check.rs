//! Arguments against a method's schema. A refusal names the place in the arguments and says in
//! plain words what is wrong there.

use callgate_contract::Value;
use jsonschema::{
    PatternOptions, ValidationError, Validator, error::ValidationErrorKind, paths::LocationSegment,
};
use serde_json::Value as Json;

use crate::{
    annotation::annotation,
    python,
    view::{Purpose, view},
};

/// Longest piece of a value that an error repeats, in characters.
const SHOWN: usize = 80;

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
        let instance = view(arguments, Purpose::Check)?;
        let result = self.validator.validate(&instance);
        result.map_err(|error| self.reason(&error, arguments))
    }

    fn reason(&self, error: &ValidationError<'_>, arguments: &[(String, Value)]) -> String {
        let (place, value) = locate(error, arguments);
        let wrong = self.what_is_wrong(error, value);
        if place.is_empty() {
            wrong
        } else {
            format!("argument '{place}' {wrong}")
        }
    }

    fn what_is_wrong(&self, error: &ValidationError<'_>, value: Option<&Value>) -> String {
        let got = || value.map_or_else(|| "that".to_owned(), describe);
        if let Some(bound) = bound(error.kind()) {
            return format!("must {bound}, not {}", got());
        }
        match error.kind() {
            ValidationErrorKind::Type { .. }
            | ValidationErrorKind::Enum { .. }
            | ValidationErrorKind::Constant { .. }
            | ValidationErrorKind::AnyOf { .. }
            | ValidationErrorKind::OneOfNotValid { .. } => {
                format!("must be {}, not {}", self.expected(error), got())
            }
            ValidationErrorKind::UniqueItems => "must not hold the same item twice".to_owned(),
            ValidationErrorKind::Pattern { pattern } => {
                format!("must match the pattern {pattern}, unlike {}", got())
            }
            ValidationErrorKind::Required { property } => {
                format!("lacks the key {}", python::literal(property))
            }
            // With no properties listed, the library calls any key a false schema's.
            ValidationErrorKind::FalseSchema if keyword(error) == "additionalProperties" => {
                "must be an empty dict".to_owned()
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

/// What a value that is too small, too large, too short or too long must be instead.
fn bound(kind: &ValidationErrorKind) -> Option<String> {
    Some(match kind {
        ValidationErrorKind::Minimum { limit } => format!("be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("be at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("be more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("be less than {limit}"),
        ValidationErrorKind::MultipleOf { multiple_of } => {
            format!("be a multiple of {multiple_of}")
        }
        ValidationErrorKind::MinLength { limit } => format!("have {limit} characters or more"),
        ValidationErrorKind::MaxLength { limit } => format!("have {limit} characters or fewer"),
        ValidationErrorKind::MinItems { limit } => format!("have {limit} items or more"),
        ValidationErrorKind::MaxItems { limit } => format!("have {limit} items or fewer"),
        ValidationErrorKind::MinProperties { limit } => format!("have {limit} keys or more"),
        ValidationErrorKind::MaxProperties { limit } => format!("have {limit} keys or fewer"),
        _ => return None,
    })
}

fn keyword<'a>(error: &'a ValidationError<'_>) -> &'a str {
    let path = error.schema_path().as_str();
    path.rsplit_once('/').map_or(path, |(_, keyword)| keyword)
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
