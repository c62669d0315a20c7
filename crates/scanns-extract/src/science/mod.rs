//! Headers of scientific and media files. The data itself is never read.
//!
//! [`ScienceFormat::of`] tells the format from the first bytes and [`ScienceFormat::extract`] reads it, each
//! format in a module of its own. Formats of arrays become a `cdl::Group`, which one writer turns into text.

#[cfg(feature = "tables")]
mod arrow;
mod bytes;
mod cdl;
mod dicom;
mod fits;
mod grib;
mod hdf5;
mod matlab;
mod media;
mod netcdf;
mod nifti;
mod numpy;
#[cfg(feature = "tables")]
mod parquet;
mod tiff;

use std::io::{Read, Seek};

use crate::error::ExtractError;
use crate::output::Output;
use bytes::{Bytes, Order, Source};

/// The bytes of a file that [`ScienceFormat::of`] wants to see; fewer do for a shorter file.
pub const HEAD: usize = 4096;

/// The offsets at which an HDF5 file may begin after a block of its user.
const HDF5_STARTS: [usize; 4] = [0, 512, 1024, 2048];

/// A format whose header is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScienceFormat {
    /// HDF5, and netCDF-4 and MATLAB 7.3, which are HDF5.
    Hdf5,
    /// netCDF classic: CDF-1, CDF-2 and CDF-5.
    NetCdf,
    /// FITS, of astronomy.
    Fits,
    /// GRIB, of weather services.
    Grib,
    /// DICOM, of medicine.
    Dicom,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC (Feather 2).
    Arrow,
    /// NIfTI, of brain research.
    Nifti,
    /// TIFF, BigTIFF and GeoTIFF.
    Tiff,
    /// One NumPy array.
    Numpy,
    /// MATLAB of level 5.
    Matlab,
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// HEIF and AVIF.
    Heif,
    /// MP3 with ID3 tags.
    Mp3,
    /// FLAC.
    Flac,
    /// Ogg with Vorbis or Opus.
    Ogg,
    /// MP4 and QuickTime.
    Mp4,
}

impl ScienceFormat {
    /// The format of a file that begins with `head`, of which [`HEAD`] bytes suffice.
    pub fn of(head: &[u8]) -> Option<Self> {
        let at = |offset: usize, magic: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(magic));
        let is_hdf5 = HDF5_STARTS.iter().any(|&start| at(start, b"\x89HDF\r\n\x1a\n"));
        Some(match head {
            _ if is_hdf5 => Self::Hdf5,
            [b'C', b'D', b'F', 1 | 2 | 5, ..] => Self::NetCdf,
            _ if at(0, b"SIMPLE  =") => Self::Fits,
            _ if at(0, b"GRIB") && matches!(head.get(7), Some(1 | 2)) => Self::Grib,
            _ if at(128, b"DICM") => Self::Dicom,
            _ if at(0, b"PAR1") || at(0, b"PARE") => Self::Parquet,
            _ if at(0, b"ARROW1\0\0") || is_arrow_stream(head) => Self::Arrow,
            _ if nifti::is_start(head) => Self::Nifti,
            _ if [&b"II*\0"[..], b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| at(0, magic)) => Self::Tiff,
            _ if at(0, b"\x93NUMPY") => Self::Numpy,
            _ if at(0, b"MATLAB 5.0 MAT") => Self::Matlab,
            _ => return media_of(head),
        })
    }

    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hdf5 => "HDF5",
            Self::NetCdf => "netCDF",
            Self::Fits => "FITS",
            Self::Grib => "GRIB",
            Self::Dicom => "DICOM",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
            Self::Nifti => "NIfTI",
            Self::Tiff => "TIFF",
            Self::Numpy => "NumPy",
            Self::Matlab => "MATLAB",
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Webp => "WebP",
            Self::Heif => "HEIF",
            Self::Mp3 => "MP3",
            Self::Flac => "FLAC",
            Self::Ogg => "Ogg",
            Self::Mp4 => "MP4",
        }
    }

    /// Writes the header of a file of `size` bytes. What was found before an error stays in `out`.
    pub fn extract(
        self,
        source: &mut (impl Read + Seek),
        size: u64,
        out: &mut Output,
    ) -> Result<(), ExtractError> {
        let source = &mut Source::new(source, size);
        match self {
            Self::Hdf5 => hdf5::extract(source, out),
            Self::NetCdf => netcdf::extract(source, out),
            Self::Fits => fits::extract(source, out),
            Self::Grib => grib::extract(source, out),
            Self::Dicom => dicom::extract(source, out),
            #[cfg(feature = "tables")]
            Self::Parquet => parquet::extract(source, out),
            #[cfg(feature = "tables")]
            Self::Arrow => arrow::extract(source, out),
            #[cfg(not(feature = "tables"))]
            Self::Parquet | Self::Arrow => {
                let reason = "this program was built without the feature tables".into();
                Err(ExtractError::Unsupported { format: self.name(), reason })
            }
            Self::Nifti => nifti::extract(source, out),
            Self::Tiff => tiff::extract(source, out),
            Self::Numpy => numpy::extract(source, out),
            Self::Matlab => matlab::extract(source, out),
            Self::Jpeg => media::image::jpeg(source, out),
            Self::Png => media::image::png(source, out),
            Self::Webp => media::image::webp(source, out),
            Self::Heif => media::image::heif(source, out),
            Self::Mp3 => media::id3::extract(source, out),
            Self::Flac => media::flac::flac(source, out),
            Self::Ogg => media::flac::ogg(source, out),
            Self::Mp4 => media::mp4::extract(source, out),
        }
    }
}

/// Whether `head` is the start of a stream of Arrow: a message of a sound length.
fn is_arrow_stream(head: &[u8]) -> bool {
    let mut bytes = Bytes::new(head, Order::Little);
    bytes.u32() == Some(u32::MAX) && bytes.u32().is_some_and(|len| len > 0 && len % 8 == 0 && len < 1 << 24)
}

/// The format of an image, a sound or a film.
fn media_of(head: &[u8]) -> Option<ScienceFormat> {
    let is_riff = head.starts_with(b"RIFF");
    let kind = head.get(8..12).unwrap_or_default();
    Some(match head {
        [0xff, 0xd8, 0xff, ..] => ScienceFormat::Jpeg,
        _ if head.starts_with(b"\x89PNG\r\n\x1a\n") => ScienceFormat::Png,
        _ if is_riff && kind == b"WEBP" => ScienceFormat::Webp,
        _ if head.starts_with(b"ID3") => ScienceFormat::Mp3,
        _ if head.starts_with(b"fLaC") => ScienceFormat::Flac,
        _ if head.starts_with(b"OggS") => ScienceFormat::Ogg,
        _ if head.get(4..8) == Some(b"ftyp") => match kind {
            b"heic" | b"heix" | b"heim" | b"heis" | b"mif1" | b"msf1" | b"avif" => ScienceFormat::Heif,
            _ => ScienceFormat::Mp4,
        },
        _ => return None,
    })
}

#[cfg(test)]
#[cfg(feature = "tables")]
mod tests;
