//! Values through the codec and back, and what it refuses.

use callgate_contract::{
    Value,
    codec::{CodecError, MAX_DEPTH, MAX_VALUES, decode, decode_trusted, encode, encode_into},
};
use proptest::{collection::vec, prelude::*, sample::Index};

use crate::{
    hostile,
    values::{any_outward_value, any_value, nested},
};

proptest! {
    #[test]
    fn every_value_survives(value in any_value()) {
        let bytes = encode(&value).unwrap();
        let back = decode(&bytes).unwrap();
        // NaN differs from itself, so values are compared by how they look.
        prop_assert_eq!(format!("{back:?}"), format!("{value:?}"));
    }

    #[test]
    fn records_and_opaque_objects_survive_between_trusted_sides(value in any_outward_value()) {
        let back = decode_trusted(&encode(&value).unwrap()).unwrap();
        prop_assert_eq!(format!("{back:?}"), format!("{value:?}"));
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..200)) {
        hostile::check_value(&bytes);
    }

    #[test]
    fn broken_encodings_do_no_harm(
        value in any_outward_value(),
        changes in vec((any::<Index>(), any::<u8>()), 1..6),
        cut in any::<Index>(),
    ) {
        let mut bytes = encode(&value).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        hostile::check_value(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        hostile::check_value(&bytes);
    }
}

#[test]
fn a_cut_encoding_is_an_error_at_every_byte() {
    let value = Value::Dict(vec![(
        Value::from("k"),
        Value::Tuple(vec![Value::Int(1 << 40), Value::Date("2024-02-29".into())]),
    )]);
    let bytes = encode(&value).unwrap();
    for length in 0..bytes.len() {
        let error = decode(&bytes[..length]).unwrap_err();
        assert!(matches!(error, CodecError::Malformed { .. }), "{error}");
    }
    let longer = [&bytes[..], b"N"].concat();
    assert!(matches!(decode(&longer), Err(CodecError::Malformed { .. })));
}

#[test]
fn depth_is_limited_both_ways() {
    let deepest = encode(&nested(MAX_DEPTH)).unwrap();
    assert_eq!(decode(&deepest).unwrap(), nested(MAX_DEPTH));
    let error = encode(&nested(MAX_DEPTH + 1)).unwrap_err().at("result");
    // The outermost container of 101 is a dict: 100 % 3 is 1.
    assert_eq!(
        error.to_string(),
        "result.k: nested deeper than 100 containers"
    );
    let deeper = [&b"[\x01\0\0\0"[..], &deepest].concat();
    assert!(matches!(decode(&deeper), Err(CodecError::TooDeep { .. })));
    let bottomless = b"[\x01\0\0\0".repeat(100_000);
    assert!(matches!(
        decode(&bottomless),
        Err(CodecError::TooDeep { .. })
    ));
}

#[test]
fn the_number_of_values_is_limited_both_ways() {
    let items = vec![Value::Null; MAX_VALUES];
    let many = CodecError::TooMany { limit: MAX_VALUES };
    assert_eq!(encode(&Value::List(items)), Err(many.clone()));
    let mut bytes = b"[".to_vec();
    bytes.extend_from_slice(&(MAX_VALUES as i32).to_le_bytes());
    bytes.resize(bytes.len() + MAX_VALUES, b'N');
    assert_eq!(decode(&bytes), Err(many));
}

#[test]
fn counts_beyond_the_bytes_are_refused() {
    for code in *b"[(<>su" {
        let mut bytes = vec![code];
        bytes.extend_from_slice(&i32::MAX.to_le_bytes());
        bytes.extend_from_slice(b"NNNN");
        let error = decode(&bytes).unwrap_err();
        assert!(matches!(error, CodecError::Malformed { .. }), "{error}");
        bytes[1..5].copy_from_slice(&(-1i32).to_le_bytes());
        let error = decode(&bytes).unwrap_err().to_string();
        assert!(error.contains("negative length"), "{error}");
    }
}

#[test]
fn what_is_not_data_is_refused_by_name_and_place() {
    let cases: [(&[u8], &str); 10] = [
        (b"[\x01\0\0\0c\0\0", "result[0]: cannot pass a 'code'"),
        (
            b"{u\x05\0\0\0items.0",
            "result.items: cannot pass a 'ellipsis'",
        ),
        (
            b"{u\x03\0\0\0a bS0",
            "result[\"a b\"]: cannot pass a 'type'",
        ),
        (b"{i\x03\0\0\0y0", "result[3]: cannot pass a 'complex'"),
        (b"{yN0", "result.keys()[0]: cannot pass a 'complex'"),
        (
            b"u\x03\0\0\0\xed\xa0\x80",
            "result: cannot pass this 'str': it holds a lone surrogate",
        ),
        (
            b"<\x01\0\0\0[\0\0\0\0",
            "result[0]: a 'list' cannot be a dict key or a set member",
        ),
        (
            b"{(\x01\0\0\0{0N0",
            "result.keys()[0]: a 'dict' cannot be a dict key or a set member",
        ),
        (
            b"r\0\0\0\0",
            "malformed value at byte 1: unknown type code 'r'",
        ),
        (
            b"(\x01\0\0\0.",
            "malformed value at byte 6: extension that is not a triple",
        ),
    ];
    for (bytes, expected) in cases {
        let error = decode(bytes).unwrap_err().at("result");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn integers_have_one_form() {
    let long = |count: i32, digits: &[u16]| {
        let mut bytes = b"l".to_vec();
        bytes.extend_from_slice(&count.to_le_bytes());
        digits
            .iter()
            .for_each(|digit| bytes.extend_from_slice(&digit.to_le_bytes()));
        decode(&bytes)
    };
    assert_eq!(long(3, &[0, 0, 2]), Ok(Value::Int(1 << 31)));
    assert_eq!(long(-3, &[1, 0, 2]), Ok(Value::Int(-(1 << 31) - 1)));
    assert!(long(3, &[0, 0, 0x8000]).is_err(), "digit of 16 bits");
    assert!(long(4, &[0, 0, 2, 0]).is_err(), "leading zero");
    assert!(long(1, &[5]).is_err(), "small");
    assert!(long(-3, &[0, 0, 2]).is_err(), "small: the lowest i32");
    assert!(long(0, &[]).is_err(), "zero");
}

#[test]
fn objects_toward_the_host_are_refused_by_their_class() {
    let record = Value::Record {
        class: "Point".into(),
        fields: vec![("x".into(), Value::Int(1))],
    };
    let opaque = Value::Opaque {
        class: "Counter".into(),
        pickle: vec![1],
    };
    for (object, class) in [(record, "Point"), (opaque, "Counter")] {
        let bytes = encode(&Value::List(vec![object])).unwrap();
        let error = decode(&bytes).unwrap_err().at("arguments");
        assert_eq!(
            error.to_string(),
            format!("arguments[0]: cannot pass a '{class}'")
        );
        assert!(decode_trusted(&bytes).is_ok());
    }
}

#[test]
fn only_text_that_python_writes_becomes_a_typed_value() {
    type Make = fn(String) -> Value;
    let cases: [(Make, &[&str], &[&str]); 4] = [
        (
            Value::DateTime,
            &[
                "2024-02-29T23:59:59",
                "0001-01-01T00:00:00.000001-23:59:59[Etc/GMT+5]",
            ],
            &[
                "2023-02-29T00:00:00",
                "2024-02-29 00:00:00",
                "2024-01-01T24:00:00",
                "2024-01-01T00:00:00[Asia/Tokyo]",
                "2024-01-01T00:00:00+09:00[../../etc]",
                "2024-01-01T00:00:00+09:00[]",
                "2024-01-01T00:00:00Z",
                "2024-01-01T00:00:00.1",
                "",
            ],
        ),
        (
            Value::Date,
            &["9999-12-31"],
            &["0000-01-01", "2024-1-1", "２０２４-01-01", "2024-04-31"],
        ),
        (
            Value::Time,
            &["00:00:00", "12:30:00.000001+08:00", "12:00:00[Asia/Tokyo]"],
            &[
                "12:30",
                "25:00:00",
                "12:00:00+24:00",
                "12:00:00+08:00[Asia/Tokyo]",
            ],
        ),
        (
            Value::Decimal,
            &["0", "-1.50", "1E+3", "NaN", "-sNaN7", "Infinity"],
            &[
                "",
                "-",
                "1.",
                ".5",
                "1e3",
                "1E3",
                "+1",
                "Inf",
                "s1",
                "1E+1234567890123456789",
                "١",
            ],
        ),
    ];
    for (make, good, bad) in cases {
        for text in good {
            let value = make((*text).to_owned());
            assert_eq!(decode(&encode(&value).unwrap()), Ok(value));
        }
        for text in bad {
            let error = encode(&make((*text).to_owned())).unwrap_err();
            assert!(
                matches!(error, CodecError::Invalid { .. }),
                "{text}: {error}"
            );
        }
    }
    let delta = Value::TimeDelta {
        days: 0,
        seconds: 86_400,
        microseconds: 0,
    };
    assert!(encode(&delta).is_err());
}

#[test]
fn the_encoder_tells_plain_values_from_extended_ones() {
    let mut out = Vec::new();
    let plain = Value::List(vec![Value::Int(1), Value::from("a")]);
    assert_eq!(encode_into(&mut out, &plain), Ok(true));
    let extended = Value::List(vec![plain, Value::Date("2024-01-01".into())]);
    assert_eq!(encode_into(&mut out, &extended), Ok(false));
}
