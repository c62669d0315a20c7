//! Names of the usual parameters, levels, grids and centres, after the code tables of the WMO.
//! Short names are those of ecCodes, which users type.

/// A parameter of a table.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter {
    /// Discipline, category and number in edition 2.
    code: [u8; 3],
    /// The number in the tables 1 to 3 of edition 1; 0 where there is none.
    old: u8,
    /// The number in table 128 of ECMWF, edition 1; 0 where there is none.
    ecmwf: u8,
    pub(super) short: &'static str,
    pub(super) name: &'static str,
    pub(super) units: &'static str,
}

const fn p(code: [u8; 3], old: [u8; 2], names: [&'static str; 3]) -> Parameter {
    let [short, name, units] = names;
    let [old, ecmwf] = old;
    Parameter { code, old, ecmwf, short, name, units }
}

static PARAMETERS: [Parameter; 62] = [
    p([0, 0, 0], [11, 130], ["t", "Temperature", "K"]),
    p([0, 0, 1], [12, 0], ["vtmp", "Virtual temperature", "K"]),
    p([0, 0, 2], [13, 3], ["pt", "Potential temperature", "K"]),
    p([0, 0, 4], [15, 201], ["tmax", "Maximum temperature", "K"]),
    p([0, 0, 5], [16, 202], ["tmin", "Minimum temperature", "K"]),
    p([0, 0, 6], [17, 168], ["dpt", "Dew point temperature", "K"]),
    p([0, 0, 10], [121, 147], ["lhtfl", "Latent heat net flux", "W m-2"]),
    p([0, 0, 11], [122, 146], ["shtfl", "Sensible heat net flux", "W m-2"]),
    p([0, 0, 17], [0, 235], ["skt", "Skin temperature", "K"]),
    p([0, 1, 0], [51, 133], ["q", "Specific humidity", "kg kg-1"]),
    p([0, 1, 1], [52, 157], ["r", "Relative humidity", "%"]),
    p([0, 1, 2], [53, 0], ["mixr", "Humidity mixing ratio", "kg kg-1"]),
    p([0, 1, 3], [54, 0], ["pwat", "Precipitable water", "kg m-2"]),
    p([0, 1, 6], [57, 182], ["e", "Evaporation", "kg m-2"]),
    p([0, 1, 7], [59, 0], ["prate", "Precipitation rate", "kg m-2 s-1"]),
    p([0, 1, 8], [61, 228], ["tp", "Total precipitation", "kg m-2"]),
    p([0, 1, 9], [62, 142], ["lsp", "Large-scale precipitation", "kg m-2"]),
    p([0, 1, 10], [63, 143], ["cp", "Convective precipitation", "kg m-2"]),
    p([0, 1, 11], [66, 0], ["sde", "Snow depth", "m"]),
    p([0, 1, 13], [65, 141], ["sd", "Water equivalent of snow depth", "kg m-2"]),
    p([0, 1, 22], [153, 246], ["clwc", "Cloud mixing ratio", "kg kg-1"]),
    p([0, 1, 29], [64, 144], ["sf", "Total snowfall", "m"]),
    p([0, 1, 64], [0, 137], ["tcwv", "Total column water vapour", "kg m-2"]),
    p([0, 2, 0], [31, 0], ["wdir", "Wind direction", "degree"]),
    p([0, 2, 1], [32, 10], ["ws", "Wind speed", "m s-1"]),
    p([0, 2, 2], [33, 131], ["u", "U component of wind", "m s-1"]),
    p([0, 2, 3], [34, 132], ["v", "V component of wind", "m s-1"]),
    p([0, 2, 4], [35, 0], ["strf", "Stream function", "m2 s-1"]),
    p([0, 2, 5], [36, 0], ["vp", "Velocity potential", "m2 s-1"]),
    p([0, 2, 8], [39, 135], ["w", "Vertical velocity", "Pa s-1"]),
    p([0, 2, 9], [40, 0], ["wz", "Geometric vertical velocity", "m s-1"]),
    p([0, 2, 10], [41, 0], ["absv", "Absolute vorticity", "s-1"]),
    p([0, 2, 12], [43, 138], ["vo", "Relative vorticity", "s-1"]),
    p([0, 2, 13], [44, 155], ["d", "Relative divergence", "s-1"]),
    p([0, 2, 22], [180, 49], ["gust", "Wind speed gust", "m s-1"]),
    p([0, 3, 0], [1, 134], ["sp", "Pressure", "Pa"]),
    p([0, 3, 1], [2, 151], ["prmsl", "Pressure reduced to mean sea level", "Pa"]),
    p([0, 3, 4], [6, 129], ["z", "Geopotential", "m2 s-2"]),
    p([0, 3, 5], [7, 156], ["gh", "Geopotential height", "gpm"]),
    p([0, 3, 9], [5, 0], ["icaht", "ICAO standard atmosphere height", "m"]),
    p([0, 3, 18], [221, 159], ["hpbl", "Planetary boundary layer height", "m"]),
    p([0, 4, 7], [204, 169], ["dswrf", "Downward short-wave radiation flux", "W m-2"]),
    p([0, 4, 9], [111, 176], ["nswrf", "Net short-wave radiation flux", "W m-2"]),
    p([0, 5, 3], [205, 175], ["dlwrf", "Downward long-wave radiation flux", "W m-2"]),
    p([0, 5, 5], [112, 177], ["nlwrf", "Net long-wave radiation flux", "W m-2"]),
    p([0, 6, 1], [71, 164], ["tcc", "Total cloud cover", "%"]),
    p([0, 6, 3], [73, 186], ["lcc", "Low cloud cover", "%"]),
    p([0, 6, 4], [74, 187], ["mcc", "Medium cloud cover", "%"]),
    p([0, 6, 5], [75, 188], ["hcc", "High cloud cover", "%"]),
    p([0, 7, 6], [157, 59], ["cape", "Convective available potential energy", "J kg-1"]),
    p([0, 7, 7], [156, 0], ["cin", "Convective inhibition", "J kg-1"]),
    p([0, 14, 0], [10, 206], ["tco3", "Total ozone", "DU"]),
    p([0, 19, 0], [20, 0], ["vis", "Visibility", "m"]),
    p([1, 0, 5], [0, 0], ["ro", "Runoff", "kg m-2"]),
    p([2, 0, 0], [81, 172], ["lsm", "Land-sea mask", "(0 - 1)"]),
    p([2, 0, 2], [85, 139], ["st", "Soil temperature", "K"]),
    p([2, 0, 3], [86, 140], ["sm", "Soil moisture content", "kg m-2"]),
    p([10, 0, 3], [100, 229], ["swh", "Significant height of combined wind waves and swell", "m"]),
    p([10, 0, 11], [108, 232], ["perpw", "Primary wave mean period", "s"]),
    p([10, 2, 0], [91, 31], ["ci", "Sea ice cover", "(0 - 1)"]),
    p([10, 3, 0], [80, 34], ["sst", "Sea surface temperature", "K"]),
    p([10, 4, 3], [88, 0], ["s", "Salinity", "kg kg-1"]),
];

/// Parameters that ECMWF numbers itself.
static ECMWF: [Parameter; 5] = [
    p([0, 1, 193], [0, 0], ["tp", "Total precipitation", "m"]),
    p([0, 1, 195], [0, 0], ["cp", "Convective precipitation", "m"]),
    p([0, 1, 196], [0, 0], ["lsp", "Large-scale precipitation", "m"]),
    p([0, 1, 254], [0, 0], ["sd", "Snow depth", "m of water equivalent"]),
    p([0, 6, 192], [0, 0], ["tcc", "Total cloud cover", "(0 - 1)"]),
];
const ECMWF_CENTRE: u16 = 98;
/// The table of ECMWF for waves, edition 1.
const WAVES: u8 = 140;

/// The parameter of edition 2 with this discipline, category and number.
pub(super) fn edition2(code: [u8; 3], centre: u16) -> Option<&'static Parameter> {
    let own = if centre == ECMWF_CENTRE { &ECMWF[..] } else { &[] };
    PARAMETERS.iter().chain(own).find(|parameter| parameter.code == code)
}

/// The units of a parameter of edition 1: table 128 of ECMWF counts water in metres, fluxes as sums, and
/// clouds as fractions.
pub(super) fn units1(table: u8, parameter: &Parameter) -> &'static str {
    match (table, parameter.short) {
        (128, "sd") => "m of water equivalent",
        (128, "tp" | "lsp" | "cp" | "sf" | "e") => "m",
        (128, "tcc" | "lcc" | "mcc" | "hcc") => "(0 - 1)",
        (128, "lhtfl" | "shtfl" | "dswrf" | "nswrf" | "dlwrf" | "nlwrf") => "J m-2",
        _ => parameter.units,
    }
}

/// The level of a parameter of table 128 that is part of its meaning, such as the temperature at 2 metres.
pub(super) fn fixed_level(table: u8, number: u8) -> Option<String> {
    match (table, number) {
        (128, 165 | 166) => Some(level1(105, 10)),
        (128, 167 | 168) => Some(level1(105, 2)),
        _ => None,
    }
}

/// The name that users type for a parameter at its usual level.
pub(super) fn other_name(short: &str, level: &str) -> Option<&'static str> {
    match (short, level) {
        ("t", "height above ground 2 m") => Some("2t"),
        ("dpt", "height above ground 2 m") => Some("2d"),
        ("u", "height above ground 10 m") => Some("10u"),
        ("v", "height above ground 10 m") => Some("10v"),
        ("prmsl", _) | ("sp", "mean sea level") => Some("msl"),
        _ => None,
    }
}

/// The parameter of edition 1 with this number, of the tables 1 to 3 of the WMO or table 128 of ECMWF.
pub(super) fn edition1(table: u8, number: u8) -> Option<&'static Parameter> {
    // Table 128 has numbers of their own for the levels of 2 and 10 metres.
    let number = match (table, number) {
        (128, 165) => 131,
        (128, 166) => 132,
        (128, 167) => 130,
        _ => number,
    };
    let number_in = |parameter: &Parameter| match table {
        1..=3 => parameter.old,
        128 if parameter.ecmwf != 229 => parameter.ecmwf,
        WAVES if parameter.ecmwf == 229 => parameter.ecmwf,
        _ => 0,
    };
    PARAMETERS.iter().find(|parameter| number != 0 && number_in(parameter) == number)
}

/// The name of a level of edition 2.
pub(super) fn level2(kind: u8, value: Option<f64>) -> String {
    let (name, unit) = match kind {
        1 => return "surface".into(),
        2 => return "cloud base".into(),
        3 => return "cloud top".into(),
        7 => return "tropopause".into(),
        8 => return "top of atmosphere".into(),
        10 => return "entire atmosphere".into(),
        101 => return "mean sea level".into(),
        100 => ("isobaric", "Pa"),
        102 => ("above mean sea level", "m"),
        103 => ("height above ground", "m"),
        104 => ("sigma", ""),
        105 => ("hybrid", ""),
        106 => ("depth below land surface", "m"),
        107 => ("isentropic", "K"),
        108 => ("pressure difference from ground", "Pa"),
        109 => ("potential vorticity", "K m2 kg-1 s-1"),
        160 => ("depth below sea level", "m"),
        _ => return format!("level type {kind}"),
    };
    let value = value.map(|value| value.to_string()).unwrap_or_default();
    format!("{name} {value} {unit}").trim_end().to_string()
}

/// The name of a level of edition 1.
pub(super) fn level1(kind: u8, value: u16) -> String {
    match kind {
        1 => "surface".into(),
        100 => format!("isobaric {value} hPa"),
        102 => "mean sea level".into(),
        103 => format!("above mean sea level {value} m"),
        105 => format!("height above ground {value} m"),
        109 => format!("hybrid {value}"),
        111 => format!("depth below land surface {value} cm"),
        112 => format!("layer below land surface {}-{} cm", value >> 8, value & 0xff),
        200 => "entire atmosphere".into(),
        _ => format!("level type {kind}"),
    }
}

/// The name of a grid template of edition 2.
pub(super) fn grid(template: u16) -> String {
    let name = match template {
        0 => "latitude/longitude",
        1 => "rotated latitude/longitude",
        10 => "Mercator",
        20 => "polar stereographic",
        30 => "Lambert conformal",
        40 => "Gaussian latitude/longitude",
        50 => "spherical harmonic coefficients",
        90 => "space view",
        101 => "general unstructured grid",
        _ => return format!("grid template {template}"),
    };
    name.to_string()
}

/// The name of a centre; empty for those without an entry.
pub(super) fn centre(number: u16) -> &'static str {
    match number {
        7 => "NCEP",
        8 => "NWSTG",
        34 => "JMA Tokyo",
        38 => "CMA Beijing",
        40 => "KMA Seoul",
        54 => "CMC Montreal",
        58 => "FNMOC",
        59 => "NOAA ESRL",
        74 => "Met Office Exeter",
        78 => "DWD Offenbach",
        80 => "Rome",
        84 | 85 => "Meteo-France Toulouse",
        94 => "DMI Copenhagen",
        98 => "ECMWF Reading",
        99 => "KNMI De Bilt",
        215 => "MeteoSwiss Zurich",
        _ => "",
    }
}
