//! Samples of all formats, made by the usual tools (see `samples/make.py`): what is found in them, and that
//! no damage to them makes a panic.

mod damage;
mod peers;

use std::io::Cursor;

use super::{HEAD, ScienceFormat};
use crate::error::ExtractError;
use crate::output::Output;

/// What one file gave.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) done: Result<(), ExtractError>,
}

/// Extracts the file `data`; a file of an unknown format gives `None`.
pub(super) fn found(data: &[u8]) -> Option<Found> {
    let format = ScienceFormat::of(data.get(..HEAD).unwrap_or(data))?;
    Some(found_as(format, data))
}

pub(super) fn found_as(format: ScienceFormat, data: &[u8]) -> Found {
    let mut out = Output::new(1 << 20, 10_000);
    let done = format.extract(&mut Cursor::new(data), data.len() as u64, &mut out);
    let (text, fields, _) = out.into_parts();
    Found { text, fields, done }
}

/// A file, the name of its format, and fields that it must give, as `name value`.
pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) data: &'static [u8],
    format: &'static str,
    fields: &'static [&'static str],
}

macro_rules! sample {
    ($name:literal, $format:literal, $fields:expr) => {
        Sample {
            name: $name,
            data: include_bytes!(concat!("../samples/", $name)),
            format: $format,
            fields: &$fields,
        }
    };
}

const CLASSIC: [&str; 11] = [
    "var sst",
    "units kelvin",
    "shape 1x4x3",
    "dim lat=4",
    "dim time=1",
    "dtype float64",
    "title Sea of samples",
    "attr long_name=sea surface temperature",
    "attr institution=Institute of Würzburg",
    "attr numbers=1, -2, 3",
    "attr valid_range=0.25, 100000000000000000000",
];
const FOUR: [&str; 14] = [
    "attr cloud_t=named type",
    "attr members=Clear, Cumulus",
    "var sst",
    "var ocean/deep/salinity",
    "units g kg-1",
    "shape 5x3",
    "dim depth=5",
    "dim time=1",
    "dtype uint16",
    "title Sea of samples",
    "attr comment=below the thermocline",
    "attr packages=alpha, beta",
    "var station",
    "attr numbers=1, -2, 3",
];
const HDF5: [&str; 11] = [
    "var entry/instrument/counts",
    "var set11",
    "var many/set0",
    "units photons",
    "shape 2x3",
    "dtype int32",
    "title Old beam line",
    "attr energies=7.5, 8.25",
    "attr names=one, two",
    "attr a11=value 11",
    "attr members=GREEN, RED",
];
const DICOM: [&str; 7] = [
    "attr Modality=MR",
    "attr BodyPartExamined=KNEE",
    "attr Manufacturer=Acme",
    "attr StudyDate=20240131",
    "title Knee study",
    "shape 4x3",
    "var PixelData",
];
const ARROW: [&str; 4] = ["var station", "var pos.lat", "attr origin=buoy network", "dtype timestamp"];
const TIFF: [&str; 7] = [
    "shape 4x3",
    "title Band of samples",
    "author Jo Writer",
    "attr Software=maker 1",
    "attr GeodeticCRS=EPSG:4326",
    "attr GTCitation=WGS 84",
    "dtype uint16",
];
const NIFTI: [&str; 4] = ["shape 4x3x2", "attr description=T1 weighted", "units mm s", "dtype int16"];
const EXIF: [&str; 6] = [
    "shape 4x5",
    "attr Make=Acme",
    "title A walk",
    "author Jo Writer",
    "attr DateTimeOriginal=2024:01:31 06:00:00",
    "attr GPSLatitude=48 deg 8 min 0 sec N",
];

pub(super) const SAMPLES: [Sample; 30] = [
    sample!("classic.nc", "netCDF", CLASSIC),
    sample!("offset64.nc", "netCDF", CLASSIC),
    sample!("data64.nc", "netCDF", CLASSIC),
    sample!("four.nc", "HDF5", FOUR),
    sample!("old.h5", "HDF5", HDF5),
    sample!("new.h5", "HDF5", HDF5),
    sample!("block.h5", "HDF5", HDF5),
    sample!(
        "a.fits",
        "FITS",
        [
            "var FLUX",
            "dtype float32",
            "dtype string8",
            "var PRIMARY",
            "var SOURCES/NAME",
            "units mJy",
            "units Jy/beam",
            "shape 2x3",
            "attr OBJECT=M 31",
            "var MASK"
        ]
    ),
    sample!("implicit.dcm", "DICOM", DICOM),
    sample!("explicit.dcm", "DICOM", DICOM),
    sample!("big.dcm", "DICOM", DICOM),
    sample!(
        "a.parquet",
        "Parquet",
        ["var station", "var pos.lat", "attr origin=buoy network", "dtype double", "shape 1"]
    ),
    sample!("a.arrow", "Arrow", ARROW),
    sample!("b.arrow", "Arrow", ARROW),
    sample!("a.grib", "GRIB", ["var t", "var u", "shape 3x4", "shape 5x8", "attr centre=ECMWF Reading"]),
    sample!("a.jpg", "JPEG", EXIF),
    sample!("a.webp", "WebP", ["attr Make=Acme", "title A walk"]),
    sample!(
        "a.png",
        "PNG",
        ["title Plain title", "author Zed Zipped", "title Grüße", "shape 4x5", "attr Model=Cam 3"]
    ),
    sample!("a.tif", "TIFF", TIFF),
    sample!("big.tif", "TIFF", TIFF),
    sample!(
        "a.mp3",
        "MP3",
        ["title Größe", "author The Band", "attr Album=First", "attr Comment=d a remark"]
    ),
    sample!("a.flac", "FLAC", ["title Song", "author Singer"]),
    sample!("a.ogg", "Ogg", ["title Song", "author Singer"]),
    sample!("a.mp4", "MP4", ["title Film", "author Director"]),
    sample!("a.nii", "NIfTI", NIFTI),
    sample!("b.nii", "NIfTI", NIFTI),
    sample!("a.npy", "NumPy", ["shape 5x6", "dtype float32"]),
    sample!("b.npy", "NumPy", ["var mass", "var tag", "dtype float64", "shape 2"]),
    sample!("a.mat", "MATLAB", ["var velocity", "var notes", "shape 2x3", "dtype float64"]),
    sample!("b.mat", "MATLAB", ["var velocity", "var notes", "shape 2x3", "dtype char"]),
];

#[test]
fn each_sample_is_known_by_its_first_bytes_and_gives_its_fields() {
    let mut missing = Vec::new();
    for sample in &SAMPLES {
        let format = ScienceFormat::of(sample.data).unwrap_or_else(|| panic!("{} is unknown", sample.name));
        assert_eq!(format.name(), sample.format, "{}", sample.name);
        let found = found_as(format, sample.data);
        if let Err(error) = &found.done {
            missing.push(format!("{}: {error}", sample.name));
        }
        for field in sample.fields {
            let (name, value) = field.split_once(' ').unwrap();
            if !found.fields.iter().any(|(n, v)| (*n, v.as_str()) == (name, value)) {
                missing.push(format!("{}: {field}\n{}\n{:?}", sample.name, found.text, found.fields));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn nothing_of_a_patient_is_in_the_output() {
    for sample in SAMPLES.iter().filter(|sample| sample.format == "DICOM") {
        let found = found(sample.data).unwrap();
        assert!(!found.text.to_lowercase().contains("secret"), "{}", found.text);
        assert!(found.fields.iter().all(|(_, value)| !value.to_lowercase().contains("secret")));
    }
}

#[test]
fn an_encrypted_parquet_file_is_told() {
    let found = found(b"PARE\0\0\0\0PARE").unwrap();
    assert!(matches!(found.done, Err(ExtractError::Encrypted { format: "Parquet" })));
}

#[test]
fn text_over_the_limit_is_cut_and_the_reader_stops() {
    for sample in &SAMPLES {
        let format = ScienceFormat::of(sample.data).unwrap();
        let mut out = Output::new(20, 2);
        let _ = format.extract(&mut Cursor::new(sample.data), sample.data.len() as u64, &mut out);
        let (text, fields, cut) = out.into_parts();
        assert!(text.len() <= 20 && fields.len() <= 2 && cut, "{}", sample.name);
    }
}
