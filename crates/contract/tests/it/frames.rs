//! Frames out of streams cut anywhere.

use callgate_contract::{
    Value,
    codec::{self, CodecError},
    frame::{FrameError, FrameReader, MAX_FRAME, PLAIN, write_frame},
};
use proptest::{collection::vec, prelude::*};

use crate::{hostile, values::any_value};

proptest! {
    #[test]
    fn frames_survive_any_split(values in vec(any_value(), 1..5), chunk in 1usize..64) {
        let mut stream = Vec::new();
        for (kind, value) in values.iter().enumerate() {
            write_frame(&mut stream, kind as u8, value).unwrap();
        }
        let mut reader = FrameReader::new();
        let mut taken = 0;
        for piece in stream.chunks(chunk) {
            reader.push(piece);
            while let Some(frame) = reader.next_frame().unwrap() {
                prop_assert_eq!(usize::from(frame.kind & !PLAIN), taken);
                let value = codec::decode(frame.body).unwrap();
                prop_assert_eq!(format!("{value:?}"), format!("{:?}", values[taken]));
                taken += 1;
            }
        }
        prop_assert_eq!(taken, values.len());
        prop_assert!(!reader.is_partial());
    }

    #[test]
    fn random_streams_do_no_harm(bytes in vec(prop_oneof![Just(0u8), 0u8..20, any::<u8>()], 0..400)) {
        hostile::check_frames(&bytes);
    }
}

#[test]
fn a_frame_split_at_every_byte_arrives_whole() {
    let mut stream = Vec::new();
    write_frame(&mut stream, 7, &Value::from("两")).unwrap();
    assert_eq!(stream, b"\x09\0\0\0\x87u\x03\0\0\0\xe4\xb8\xa4");
    for cut in 1..stream.len() {
        let (head, tail) = stream.split_at(cut);
        let mut reader = FrameReader::new();
        reader.push(head);
        assert_eq!(reader.next_frame(), Ok(None));
        assert!(reader.is_partial());
        reader.push(tail);
        let frame = reader.next_frame().unwrap().unwrap();
        assert_eq!((frame.kind, frame.body.len()), (7 | PLAIN, 8));
    }
}

#[test]
fn false_lengths_are_refused_at_once() {
    let mut reader = FrameReader::new();
    reader.push(&(MAX_FRAME as u32 + 1).to_le_bytes());
    let length = MAX_FRAME + 1;
    assert_eq!(reader.next_frame(), Err(FrameError::TooLong { length }));
    reader.push(b"more");
    assert_eq!(reader.next_frame(), Err(FrameError::TooLong { length }));

    let mut reader = FrameReader::new();
    reader.push(&[0; 4]);
    assert_eq!(reader.next_frame(), Err(FrameError::Empty));
}

#[test]
fn a_claimed_length_takes_no_memory() {
    let mut reader = FrameReader::new();
    reader.push(&(MAX_FRAME as u32).to_le_bytes());
    assert_eq!(reader.next_frame(), Ok(None));
    assert!(reader.spare().len() < 64 << 10);
}

#[test]
fn an_unwritable_value_leaves_the_buffer_as_it_was() {
    let mut out = b"before".to_vec();
    let long = Value::Bytes(vec![0; MAX_FRAME]);
    let error = write_frame(&mut out, 1, &long).unwrap_err();
    assert!(matches!(error, CodecError::TooLong { .. }), "{error}");
    let bad = Value::List(vec![Value::Date("today".into())]);
    assert!(write_frame(&mut out, 1, &bad).is_err());
    assert_eq!(out, b"before");
}
