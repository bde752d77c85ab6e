//! From arguments as written to arguments by parameter name. A refusal says which argument, in
//! Python's words.

use callgate_contract::{Arguments, Value};

use crate::signature::Signature;

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
