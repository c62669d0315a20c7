//! Encodings by the numbers that Microsoft formats give them: code pages, locales and font character sets.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, IBM866, ISO_8859_2, ISO_8859_5, KOI8_R, KOI8_U, MACINTOSH,
    SHIFT_JIS, UTF_8, UTF_16LE, WINDOWS_874, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252, WINDOWS_1253,
    WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257, WINDOWS_1258, X_MAC_CYRILLIC,
};

/// The encoding of a code page; Windows-1252 for one that is unknown, such as 437 and 850.
pub(super) fn of_code_page(page: i32) -> &'static Encoding {
    match page {
        866 => IBM866,
        874 => WINDOWS_874,
        932 | 10_001 => SHIFT_JIS,
        936 => GBK,
        949 | 1361 | 10_003 => EUC_KR,
        950 | 10_002 => BIG5,
        1200 => UTF_16LE,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        // BIFF writes 32,768 for the Macintosh's code page and 32,769 for its own.
        10_000 | -32_768 | 32_768 => MACINTOSH,
        10_007 => X_MAC_CYRILLIC,
        20_866 => KOI8_R,
        21_866 => KOI8_U,
        28_592 => ISO_8859_2,
        28_595 => ISO_8859_5,
        51_932 => EUC_JP,
        54_936 => GB18030,
        65_001 | -535 => UTF_8,
        _ => WINDOWS_1252,
    }
}

/// The encoding of a Windows locale: its low 10 bits are the language.
pub(super) fn of_locale(locale: u16) -> &'static Encoding {
    let page = match locale & 0x3ff {
        0x02 | 0x19 | 0x22 | 0x23 | 0x2f => 1251,
        0x05 | 0x0e | 0x15 | 0x18 | 0x1a | 0x1b | 0x1c | 0x24 => 1250,
        0x08 => 1253,
        0x1f => 1254,
        0x0d => 1255,
        0x01 | 0x20 | 0x29 => 1256,
        0x25..=0x27 => 1257,
        // Taiwan, Hong Kong and Macao.
        0x04 if matches!(locale, 0x0404 | 0x0c04 | 0x1404) => 950,
        0x04 => 936,
        0x11 => 932,
        0x12 => 949,
        0x1e => 874,
        _ => 1252,
    };
    of_code_page(page)
}

/// The encoding of a font's character set. `None`: the default of the document.
pub(super) fn of_font(charset: i32) -> Option<&'static Encoding> {
    match charset {
        77 => Some(MACINTOSH),
        128 => Some(SHIFT_JIS),
        129 | 130 => Some(EUC_KR),
        134 => Some(GBK),
        136 => Some(BIG5),
        161 => Some(WINDOWS_1253),
        162 => Some(WINDOWS_1254),
        163 => Some(WINDOWS_1258),
        177 => Some(WINDOWS_1255),
        178..=180 => Some(WINDOWS_1256),
        186 => Some(WINDOWS_1257),
        204 => Some(WINDOWS_1251),
        222 => Some(WINDOWS_874),
        238 => Some(WINDOWS_1250),
        _ => None,
    }
}
