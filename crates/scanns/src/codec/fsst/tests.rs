use super::super::ByteReader;
use super::*;

/// Decompresses one symbol after another, by the grammar.
fn slowly(symbols: &[Symbol], code: &[u8]) -> Option<Vec<u8>> {
    let (mut text, mut code) = (Vec::new(), code.iter());
    while let Some(&first) = code.next() {
        if first == LITERAL {
            text.push(*code.next()?);
        } else {
            let symbol = symbols.get(usize::from(first))?;
            text.extend_from_slice(&symbol.bytes()[..usize::from(symbol.len)]);
        }
    }
    Some(text)
}

/// Compresses greedily: at each position it compares all symbols and takes the longest.
fn compress_slowly(symbols: &[Symbol], mut text: &[u8]) -> Vec<u8> {
    let mut code = Vec::new();
    while !text.is_empty() {
        let fits = |symbol: &Symbol| text.starts_with(&symbol.bytes()[..usize::from(symbol.len)]);
        let best = (0..255u8).zip(symbols).filter(|(_, symbol)| fits(symbol)).max_by_key(|(_, s)| s.len);
        match best {
            Some((number, symbol)) => {
                code.push(number);
                text = &text[usize::from(symbol.len)..];
            }
            None => {
                code.extend_from_slice(&[LITERAL, text[0]]);
                text = &text[1..];
            }
        }
    }
    code
}

/// Texts of many kinds: words, numbers, few distinct bytes, all bytes, zeros, long texts, empty texts.
fn texts(random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let kind = random.u32(..7);
    let words = ["http://", "www.", "example", ".com/", "index", "aaaa", "\0\0\0", "é", "2026-11-"];
    (0..random.usize(..200))
        .map(|_| {
            let len = if random.u32(..50) == 0 { random.usize(..3000) } else { random.usize(..40) };
            match kind {
                0 => (0..len).map(|_| random.u8(..)).collect(),
                1 => vec![random.u8(..2); len],
                2 => (0..len).map(|_| random.u8(..2) * 255).collect(),
                3 => (0..len).map(|_| random.u8(b'0'..=b'9')).collect(),
                4 => (0..=255).cycle().skip(random.usize(..256)).take(len).collect(),
                _ => (0..len / 4).flat_map(|_| words[random.usize(..words.len())].bytes()).collect(),
            }
        })
        .collect()
}

fn slices(texts: &[Vec<u8>]) -> Vec<&[u8]> {
    texts.iter().map(Vec::as_slice).collect()
}

#[test]
fn texts_come_back_and_codes_are_those_of_looking_at_all_symbols() {
    let seed = 0x5eed_f551;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..150 {
        let texts = texts(&mut random);
        let table = SymbolTable::train(&slices(&texts));
        let (symbols, matcher) = (table.symbols(), table.matcher());
        let others = self::texts(&mut random);
        for text in texts.iter().chain(&others) {
            let mut code = vec![1];
            matcher.compress(text, &mut code);
            assert_eq!(code[1..], compress_slowly(&symbols, text), "seed {seed:x} round {round}");
            assert!(code.len() - 1 <= 2 * text.len());
            let mut back = b"before".to_vec();
            table.decompress(&code[1..], text.len(), &mut back).unwrap();
            assert_eq!(back[6..], *text, "seed {seed:x} round {round}");
            if let Some(less) = text.len().checked_sub(1) {
                assert_eq!(table.decompress(&code[1..], less, &mut back), None, "one byte too many");
                assert_eq!(back.len(), 6 + text.len(), "nothing is appended");
            }
        }
    }
}

#[test]
fn tables_read_back_and_no_other_bytes_are_a_table() {
    let seed = 0x5eed_f552;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..100 {
        let texts = texts(&mut random);
        let table = SymbolTable::train(&slices(&texts));
        let mut bytes = Vec::new();
        table.encode(&mut bytes);
        let end = bytes.len();
        bytes.extend_from_slice(b"rest");
        let mut reader = ByteReader::new(&bytes);
        let back = SymbolTable::decode(&mut reader).unwrap();
        assert_eq!(reader.remaining(), b"rest");
        assert_eq!(back.symbols(), table.symbols());
        for cut in [0, 7, 8, end / 2, end - 1].into_iter().filter(|&cut| cut < end) {
            assert!(SymbolTable::decode(&mut ByteReader::new(&bytes[..cut])).is_none(), "cut at {cut}");
        }
        // There is one encoding of each table, so a decoded table is encoded to the same bytes.
        for _ in 0..50 {
            let mut damaged = bytes.clone();
            let at = random.usize(..end);
            damaged[at] ^= 1 << random.u32(..8);
            let mut reader = ByteReader::new(&damaged);
            let Some(found) = SymbolTable::decode(&mut reader) else { continue };
            let (mut again, len) = (Vec::new(), damaged.len() - reader.remaining().len());
            found.encode(&mut again);
            assert_eq!(again, damaged[..len], "seed {seed:x} round {round} at {at}");
        }
    }
    for wrong in [
        &[2, 0, 0, 0, 0, 0, 0, 0, b'b', b'a'][..],
        &[2, 0, 0, 0, 0, 0, 0, 0, b'a', b'a'],
        &[255, 1, 0, 0, 0, 0, 0, 0],
        &[255; 3000],
    ] {
        assert!(SymbolTable::decode(&mut ByteReader::new(wrong)).is_none(), "{wrong:?}");
    }
}

#[test]
fn any_codes_are_read_as_the_grammar_says() {
    let seed = 0x5eed_f553;
    println!("seed {seed:x}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..300 {
        let table = SymbolTable::train(&slices(&texts(&mut random)));
        let symbols = table.symbols();
        let some = symbols.len().max(1);
        for _ in 0..20 {
            let len = random.usize(..400);
            let any = random.u32(..2) == 0;
            let code: Vec<u8> = (0..len)
                .map(|_| match random.u32(..20) {
                    0 => LITERAL,
                    1 if any => random.u8(..),
                    _ => u8::try_from(random.usize(..some)).unwrap(),
                })
                .collect();
            let mut text = Vec::new();
            let found = table.decompress(&code, usize::MAX, &mut text).map(|()| text.clone());
            assert_eq!(found, slowly(&symbols, &code), "seed {seed:x} round {round}: {code:?}");
            assert!(text.capacity() <= 16 * len.max(8), "{} bytes for {len}", text.capacity());
        }
    }
}

#[test]
fn text_of_words_takes_less_than_half() {
    let text: Vec<u8> = (0..4000)
        .flat_map(|i| {
            format!("https://www.example.com/articles/{}/comments?page={}", i * 37, i % 7).into_bytes()
        })
        .collect();
    let pieces: Vec<&[u8]> = text.chunks(50).collect();
    let sample = sample(pieces.iter().copied(), text.len(), SAMPLE);
    let taken: usize = sample.iter().map(|piece| piece.len()).sum();
    assert!((SAMPLE / 2..=2 * SAMPLE).contains(&taken), "{taken} of {SAMPLE}");
    let matcher = SymbolTable::train(&sample).matcher();
    let mut code = Vec::new();
    pieces.iter().for_each(|piece| matcher.compress(piece, &mut code));
    assert!(code.len() * 5 < text.len() * 2, "{} of {}", code.len(), text.len());
}

#[test]
fn nothing_trains_an_empty_table_which_escapes_all() {
    let table = SymbolTable::train(&[]);
    let mut bytes = Vec::new();
    table.encode(&mut bytes);
    assert_eq!(bytes, [0; 8]);
    let mut code = Vec::new();
    table.matcher().compress(b"ab", &mut code);
    assert_eq!(code, [LITERAL, b'a', LITERAL, b'b']);
    assert_eq!(table.decompress(&[0], usize::MAX, &mut Vec::new()), None, "no symbol has a code");
    assert_eq!(table.decompress(&[LITERAL], usize::MAX, &mut Vec::new()), None, "no byte follows");
}
