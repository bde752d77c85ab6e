//! A hundred requests in people's own words: the right method is among the first five.

use callgate_agent::search::MethodIndex;

use super::catalogue;

/// Each line: `the method meant | the request`.
fn requests() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("requests.txt").lines();
    let pairs = lines.map(|line| line.split_once(" | ").unwrap());
    pairs.collect()
}

#[test]
fn the_right_method_is_among_the_first_five() {
    let methods = catalogue();
    let requests = requests();
    assert!(methods.len() >= 60 && requests.len() == 100);
    let index = MethodIndex::new(&methods);
    let missed: Vec<_> = requests
        .iter()
        .map(|(meant, request)| (meant, request, index.search(request, 5)))
        .filter(|(meant, _, found)| !found.contains(meant))
        .collect();
    assert!(missed.len() <= 5, "{} missed: {missed:#?}", missed.len());
}

#[test]
fn a_name_is_found_by_itself() {
    let methods = catalogue();
    let index = MethodIndex::new(&methods);
    for method in &methods {
        assert_eq!(index.search(&method.name, 1), [&method.name]);
        let spoken = method.name.replace('_', " ");
        assert!(
            index.search(&spoken, 5).contains(&method.name.as_str()),
            "{spoken}"
        );
    }
}

#[test]
fn nothing_is_found_for_nothing() {
    let methods = catalogue();
    let index = MethodIndex::new(&methods);
    for request in ["", "  ", "xyzzy", "the of and", "的了吗", "!?"] {
        assert_eq!(index.search(request, 5), [""; 0], "{request}");
    }
    assert_eq!(MethodIndex::new([]).search("weather", 5), [""; 0]);
}

#[test]
fn equal_questions_have_equal_answers() {
    let methods = catalogue();
    let reversed: Vec<_> = methods.iter().rev().collect();
    let (one, other) = (MethodIndex::new(&methods), MethodIndex::new(reversed));
    for (_, request) in requests() {
        assert_eq!(
            one.search(request, 5),
            other.search(request, 5),
            "{request}"
        );
    }
}
