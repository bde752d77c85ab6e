//! Files that are no capsules, or no longer: an error each, and never a panic or a deed.

use callgate_agent::capsule::{CapsuleError, read, write};
use callgate_contract::Mode;
use proptest::prelude::*;

use super::{
    code,
    play::{Play, again},
};
use crate::stage::Scripted;

async fn written() -> Vec<u8> {
    let play = Play::new(code(Scripted::default())).await;
    play.troupe.hears(Mode::Code, "Do it all").await;
    let mut file = Vec::new();
    write(&play.capsule().await, &mut file).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_says_how() {
    let file = written().await;
    let text = String::from_utf8(file.clone()).unwrap();
    let refused = |text: &str| read(text.as_bytes()).unwrap_err();

    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    let error = refused(&newer);
    assert!(matches!(error, CapsuleError::Version { found: 2 }));
    assert_eq!(
        error.to_string(),
        "the capsule is of version 2, and this callgate reads version 1"
    );
    assert!(matches!(refused(""), CapsuleError::NotOne(_)));
    assert!(matches!(refused("\u{89}PNG\n"), CapsuleError::NotOne(_)));
    assert!(matches!(refused("{}\n"), CapsuleError::NotOne(_)));
    let lines: Vec<&str> = text.lines().collect();
    let without_end = lines[..lines.len() - 1].join("\n") + "\n";
    assert!(matches!(refused(&without_end), CapsuleError::CutOff));
    assert!(matches!(
        read(&file[..file.len() - 9]).unwrap_err(),
        CapsuleError::CutOff
    ));
    let without_one = [&lines[..2], &lines[3..]].concat().join("\n") + "\n";
    let error = refused(&without_one);
    assert!(matches!(error, CapsuleError::Malformed { .. }), "{error}");
    let twice = format!("{}\n{text}", lines[0]);
    assert!(matches!(
        refused(&twice),
        CapsuleError::Malformed { line: 2, .. }
    ));

    // Every line, broken in turn.
    for place in 1..lines.len() {
        let mut broken: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        broken[place] = broken[place].replacen(':', ";", 1);
        let error = refused(&(broken.join("\n") + "\n"));
        let line = place as u64 + 1;
        assert!(matches!(error, CapsuleError::Malformed { line: at, .. } if at == line));
    }
}

/// A capsule from somebody who means harm: names that lead elsewhere, calls that were never made.
#[tokio::test(flavor = "multi_thread")]
async fn harm_stays_inside() {
    let capsule = read(written().await.as_slice()).unwrap();
    for name in ["../../escape", "/etc/passwd", "a/../../b", ".", "", "nul\0"] {
        let mut hostile = capsule.clone();
        let mut file = hostile.files[0].clone();
        file.name = name.into();
        file.modified = hostile.turns[0].started_at - jiff::SignedDuration::from_secs(9);
        hostile.files.push(file);
        let result = super::play::try_again(&hostile).await;
        assert!(
            matches!(result, Err(CapsuleError::File(_))),
            "{name:?}: {result:?}"
        );
    }
    let mut hostile = capsule.clone();
    let code = "open('/etc/shadow').read()";
    hostile.turns[0].runs[0].code = code.into();
    let reply = &mut hostile.turns[0].rounds[0].answer.as_mut().unwrap().reply;
    reply["text"] = format!("```python\n{code}\n```").into();
    let difference = again(&hostile).await.difference.unwrap();
    assert_eq!(difference.found["stop"], "error");

    // A call that is not on record has no result, whatever the method is called.
    let mut hostile = capsule.clone();
    hostile.turns[0].runs[0].calls.clear();
    let difference = again(&hostile).await.difference.unwrap();
    assert_eq!(
        (difference.what.as_str(), difference.place.call),
        ("error", Some(1))
    );
    let found = difference.found.as_str().unwrap();
    assert!(found.contains("not in the record"), "{found}");

    let mut hostile = capsule;
    hostile.turns[0].runs[0].calls[0].arguments.0 = vec![0xFF; 64];
    assert!(again(&hostile).await.difference.is_some());
}

proptest! {
    #[test]
    fn nothing_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(bytes.as_slice());
        let header = br#"{"type":"capsule","version":1,"callgate":"0","packages":[],"#;
        let rest = br#""session":"a:FriendMessage:b","exported_at":"2026-01-01T00:00:00Z","#;
        let settings = br#""turn":null,"settings":{"rounds":1,"error_retries":1,"observation":1}}"#;
        let begun = [&header[..], rest, settings, b"\n", &bytes, b"\n"].concat();
        prop_assert!(read(begun.as_slice()).is_err());
    }
}
