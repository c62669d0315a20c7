//! Elements of DICOM that tell what a file holds, by the names of PS3.6. None of them names a person.

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredAs {
    /// Text, and numbers that are stored as text.
    Text,
    /// An unsigned number of two or four bytes.
    Number,
}

static TAGS: [(u16, u16, &str); 46] = [
    (0x0002, 0x0002, "MediaStorageSOPClassUID"),
    (0x0002, 0x0010, "TransferSyntaxUID"),
    (0x0002, 0x0013, "ImplementationVersionName"),
    (0x0008, 0x0008, "ImageType"),
    (0x0008, 0x0020, "StudyDate"),
    (0x0008, 0x0021, "SeriesDate"),
    (0x0008, 0x0022, "AcquisitionDate"),
    (0x0008, 0x0023, "ContentDate"),
    (0x0008, 0x0030, "StudyTime"),
    (0x0008, 0x0060, "Modality"),
    (0x0008, 0x0061, "ModalitiesInStudy"),
    (0x0008, 0x0064, "ConversionType"),
    (0x0008, 0x0070, "Manufacturer"),
    (0x0008, 0x0080, "InstitutionName"),
    (0x0008, 0x1010, "StationName"),
    (0x0008, 0x1030, "StudyDescription"),
    (0x0008, 0x103e, "SeriesDescription"),
    (0x0008, 0x1040, "InstitutionalDepartmentName"),
    (0x0008, 0x1090, "ManufacturerModelName"),
    (0x0018, 0x0010, "ContrastBolusAgent"),
    (0x0018, 0x0015, "BodyPartExamined"),
    (0x0018, 0x0020, "ScanningSequence"),
    (0x0018, 0x0021, "SequenceVariant"),
    (0x0018, 0x0023, "MRAcquisitionType"),
    (0x0018, 0x0024, "SequenceName"),
    (0x0018, 0x0050, "SliceThickness"),
    (0x0018, 0x0060, "KVP"),
    (0x0018, 0x0080, "RepetitionTime"),
    (0x0018, 0x0081, "EchoTime"),
    (0x0018, 0x0087, "MagneticFieldStrength"),
    (0x0018, 0x0088, "SpacingBetweenSlices"),
    (0x0018, 0x1020, "SoftwareVersions"),
    (0x0018, 0x1030, "ProtocolName"),
    (0x0018, 0x1210, "ConvolutionKernel"),
    (0x0018, 0x5100, "PatientPosition"),
    (0x0020, 0x0011, "SeriesNumber"),
    (0x0020, 0x0013, "InstanceNumber"),
    (0x0020, 0x0060, "Laterality"),
    (0x0028, 0x0004, "PhotometricInterpretation"),
    (0x0028, 0x0008, "NumberOfFrames"),
    (0x0028, 0x0030, "PixelSpacing"),
    (0x0028, 0x0002, "SamplesPerPixel"),
    (0x0028, 0x0010, "Rows"),
    (0x0028, 0x0011, "Columns"),
    (0x0028, 0x0100, "BitsAllocated"),
    (0x0028, 0x0103, "PixelRepresentation"),
];

/// The name of an element that may be written.
pub(super) fn known(group: u16, element: u16) -> Option<(&'static str, StoredAs)> {
    let (.., name) = TAGS.iter().find(|tag| (tag.0, tag.1) == (group, element))?;
    let is_number = group == 0x28 && matches!(element, 0x02 | 0x10 | 0x11 | 0x0100 | 0x0103);
    Some((name, if is_number { StoredAs::Number } else { StoredAs::Text }))
}
