//! Integers as marshal writes them: a signed digit count, then digits of 15 bits, lowest first.
//! Refuses what marshal would not have written itself.

use num_bigint::{BigInt, BigUint, Sign};

use crate::Value;

const BITS: u32 = 15;
const BASE: u16 = 1 << BITS;

pub(super) fn write_i64(out: &mut Vec<u8>, number: i64) {
    let mut rest = number.unsigned_abs();
    let count = (u64::BITS - rest.leading_zeros())
        .div_ceil(BITS)
        .cast_signed();
    let count = if number < 0 { -count } else { count };
    out.extend_from_slice(&count.to_le_bytes());
    while rest != 0 {
        let digit = (rest % u64::from(BASE)) as u16;
        out.extend_from_slice(&digit.to_le_bytes());
        rest >>= BITS;
    }
}

/// `None`: too many digits to count.
pub(super) fn write_big(out: &mut Vec<u8>, number: &BigInt) -> Option<()> {
    let count = number.bits().div_ceil(u64::from(BITS));
    let count = i32::try_from(count).ok()?;
    let signed = if number.sign() == Sign::Minus {
        -count
    } else {
        count
    };
    out.extend_from_slice(&signed.to_le_bytes());
    let mut limbs = number.iter_u32_digits();
    let (mut bits, mut width) = (0u64, 0u32);
    for _ in 0..count {
        if width < BITS {
            bits |= u64::from(limbs.next().unwrap_or(0)) << width;
            width += u32::BITS;
        }
        let digit = (bits % u64::from(BASE)) as u16;
        out.extend_from_slice(&digit.to_le_bytes());
        bits >>= BITS;
        width -= BITS;
    }
    Some(())
}

/// `digits` are pairs of bytes, `negative` the sign of their count.
pub(super) fn read(digits: &[u8], negative: bool) -> Result<Value, &'static str> {
    let mut limbs = Vec::with_capacity(digits.len() / 4 + 1);
    let (mut bits, mut width, mut last) = (0u64, 0u32, 0u16);
    for pair in digits.chunks_exact(2) {
        last = u16::from_le_bytes([pair[0], pair[1]]);
        if last >= BASE {
            return Err("digit of an int out of range");
        }
        bits |= u64::from(last) << width;
        width += BITS;
        if width >= u32::BITS {
            limbs.push(bits as u32);
            bits >>= u32::BITS;
            width -= u32::BITS;
        }
    }
    if last == 0 {
        return Err("int with a leading zero digit");
    }
    limbs.push(bits as u32);
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    let number = BigInt::from_biguint(sign, BigUint::new(limbs));
    match Value::int(number) {
        Value::Int(small) if i32::try_from(small).is_ok() => Err("small int written as a long one"),
        value => Ok(value),
    }
}
