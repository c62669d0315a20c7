//! Reads blocks of numbers of every kind, one by one and as a whole, and checks their forms.

use super::*;

fn check(values: &[u64], floats: bool, label: &str) -> (Form, usize) {
    let mut bytes = vec![0xee; 3];
    let head = put_numbers(&mut Chooser::default(), values, floats, &mut bytes);
    let bytes = &bytes[3..];
    let numbers = Numbers::read(bytes, head, values.len()).unwrap_or_else(|| panic!("{label} {head:?}"));
    assert_eq!(numbers.count(), values.len());
    for (i, &value) in values.iter().enumerate() {
        assert_eq!(numbers.get(i), Some(value), "{label} {head:?} {i}");
    }
    assert_eq!(numbers.get(values.len()), None, "{label}");
    let end = u32::try_from(values.len()).unwrap();
    for step in [1, 3, 50] {
        let (docs, mut each): (Vec<u32>, _) = ((70..70 + end).step_by(step).collect(), vec![5]);
        assert_eq!(numbers.pick(70, &docs, &mut each), Some(()), "{label} {head:?}");
        assert!(each[1..].iter().eq(values.iter().step_by(step)), "{label} {head:?} {step}");
    }
    assert_eq!(numbers.pick(0, &[0, end], &mut Vec::new()), None, "{label} {head:?}");
    for from in [0, 1, 7, 8, values.len() / 2, values.len()] {
        for count in [0, 1, 9, values.len().saturating_sub(from)] {
            let mut out = vec![0; count];
            let got = numbers.unpack(from, &mut out).map(|()| out);
            assert_eq!(got.as_deref(), values.get(from..from + count), "{label} {head:?} {from} {count}");
        }
    }
    check_bounds(&numbers, values, label);
    (head.form, bytes.len())
}

/// Compares the numbers with bounds that are numbers of the block, next to them, or anything.
fn check_bounds(numbers: &Numbers, values: &[u64], label: &str) {
    let mut random = fastrand::Rng::with_seed(values.len() as u64);
    let mut words = vec![7; 3];
    for _ in 0..40 {
        let mut bound = || match (values.is_empty(), random.u8(..8)) {
            (_, 0) => 0,
            (_, 1) => u64::MAX,
            (_, 2) | (true, _) => random.u64(..),
            _ => values[random.usize(..values.len())].wrapping_add(random.u64(..3)).wrapping_sub(1),
        };
        let (low, high) = (bound(), bound());
        assert_eq!(numbers.within(low, high, &mut words), Some(()), "{label} {low} {high}");
        let mut expected = vec![0; values.len().div_ceil(64)];
        for (i, value) in values.iter().enumerate() {
            expected[i / 64] |= u64::from(low <= *value && *value <= high) << (i % 64);
        }
        assert_eq!(words, expected, "{label} {low} {high}");
    }
}

#[test]
fn short_runs_are_not_kept_as_runs() {
    let seed = 0x5eed_0612;
    let mut random = fastrand::Rng::with_seed(seed);
    for length in 1..4 {
        let values: Vec<u64> = (0..1_000).flat_map(|_| vec![random.u64(..256); length]).collect();
        let (form, bytes) = check(&values, false, &format!("seed {seed:x} {length}"));
        let (packed, runs) = (values.len(), 1_000 * 3);
        assert!(bytes <= packed.min(runs) + 8, "{length} {form:?} {bytes}");
    }
}

#[test]
fn each_form_is_found_where_it_takes_least() {
    let seed = 0x5eed_0605;
    let mut random = fastrand::Rng::with_seed(seed);
    let label = format!("seed {seed:x}");
    let all = |f: &mut dyn FnMut(u64) -> u64| (0..4_096).map(f).collect::<Vec<u64>>();
    assert_eq!(check(&all(&mut |_| 7), false, &label), (Form::Constant, 0));
    let (form, bytes) = check(&all(&mut |_| 1_000 + 500 * random.u64(..200)), false, &label);
    assert_eq!((form, bytes), (Form::Scaled, 4_096 + 8));
    let second = &mut |i| (1 << 63) + 1_000_000_000 * (1_104_537_600 + i * 20 + random.u64(..86_400));
    let (form, bytes) = check(&all(second), false, &label);
    assert!(form == Form::Scaled && bytes <= 4_096 * 18 / 8 + 8, "{form:?} {bytes}");
    let few: Vec<u64> = (0..20).map(|_| random.u64(..)).collect();
    let (form, bytes) = check(&all(&mut |_| few[random.usize(..20)]), false, &label);
    assert!(form == Form::Table && bytes < 4_096 * 5 / 8 + 200);
    let (form, bytes) = check(&all(&mut |i| 1 << 40 | (i * 1_000_003 + random.u64(..60))), false, &label);
    assert!(form == Form::Line && bytes <= 4_096 * 7 / 8 + 8, "{form:?} {bytes}");
    let (form, _) = check(&all(&mut |i| u64::MAX - i * 77), false, &label);
    assert_eq!(form, Form::Line);
    let (form, bytes) = check(&all(&mut |i| (i / 100).wrapping_mul(0x9e37_79b9_7f4a_7c15)), false, &label);
    assert!(form == Form::Runs && bytes < 500, "{form:?} {bytes}");
    let outliers = &mut |i| if i % 500 == 3 { random.u64(..) } else { random.u64(..1_000) };
    let (form, bytes) = check(&all(outliers), false, &label);
    assert!(form == Form::Patched && bytes < 4_096 * 11 / 8, "{form:?} {bytes}");
    let price = &mut |_| order_of(random.u32(..1_000_000) as f64 / 100.0);
    let (form, bytes) = check(&all(price), true, &label);
    assert!(form == Form::Decimal && bytes < 4_096 * 21 / 8, "{form:?} {bytes}");
    let odd = &mut |i: u64| order_of(if i.is_multiple_of(300) { f64::NAN } else { i as f64 / 8.0 - 9.0 });
    assert_eq!(check(&all(odd), true, &label).0, Form::Decimal);
    assert_eq!(check(&all(&mut |_| order_of(random.f64())), true, &label).0, Form::Scaled);
}

#[test]
fn numbers_of_any_length_and_spread_read_back() {
    let seed = 0x5eed_0606;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..600 {
        let count = [1, 2, 3, 63, 64, 65, 500, 4_096][random.usize(..8)];
        let (bits, step) = (random.u32(0..=64), [1, 1, 1, 3, 1_000, 1 << 33][random.usize(..6)]);
        let base = random.u64(..);
        let repeat = [1, 1, 9, 200][random.usize(..4)];
        let mut value = base;
        let values: Vec<u64> = (0..count)
            .map(|i| {
                if i % repeat == 0 {
                    let limit = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                    value = base.wrapping_add(random.u64(..=limit).wrapping_mul(step));
                }
                if random.u32(..1_000) == 0 { random.u64(..) } else { value }
            })
            .collect();
        check(&values, false, &format!("seed {seed:x} round {round}"));
        check(&values, true, &format!("seed {seed:x} round {round} as doubles"));
    }
    let full: Vec<u64> = (0..MOST as u64).map(|i| i / 5_000 * 0x1234_5678_9abc).collect();
    assert_eq!(check(&full, false, "a full block").0, Form::Runs);
    let more: Vec<u64> = (0..MOST as u64 + 5).map(|i| i / 5_000 * 0x1234_5678_9abc).collect();
    assert_eq!(check(&more, false, "more than full").0, Form::Scaled);
}

#[test]
fn any_bytes_and_heads_do_no_harm() {
    let seed = 0x5eed_0607;
    let (mut random, mut words) = (fastrand::Rng::with_seed(seed), Vec::new());
    for _ in 0..20_000 {
        // Small bytes are places of exceptions.
        let most = [1, 4, 255][random.usize(..3)];
        let bytes: Vec<u8> = (0..random.usize(..400)).map(|_| random.u8(..=most)).collect();
        let Some(form) = Form::from_code(random.u8(..8)) else { continue };
        let head = Head {
            form,
            width: random.u8(..70),
            base: random.u64(..),
            step: random.u64(..),
            extra: random.u32(..40) >> random.u32(..5),
        };
        let count = random.usize(..300);
        if let Some(numbers) = Numbers::read(&bytes, head, count) {
            let mut out = vec![0; count];
            let all = numbers.unpack(0, &mut out);
            let (low, high) = (random.u64(..), random.u64(..));
            if numbers.within(low, high, &mut words).is_some() {
                assert_eq!(words.len(), count.div_ceil(64), "seed {seed:x} {head:?}");
            }
            for (i, &value) in out.iter().enumerate() {
                let alone = numbers.get(i);
                // An exception that is missing is only found alone, and so are the ends of runs that do not
                // ascend.
                let found = match form {
                    Form::Runs => None,
                    Form::Patched | Form::Decimal => alone,
                    _ => Some(alone.unwrap_or(!value)),
                };
                assert!(
                    all.is_none() || found.is_none_or(|alone| alone == value),
                    "seed {seed:x} {head:?} {i}"
                );
            }
        }
    }
    assert!(Numbers::read(&[], Head::constant(3), 99).is_some_and(|all| all.get(9) == Some(3)));
    assert!(Numbers::read(&[0; 64], Head::constant(3), usize::MAX).is_none());
    check(&[7; MOST + 1], false, "very many that are equal");
}
