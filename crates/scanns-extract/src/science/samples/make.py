"""Makes the samples of the tests with the usual tools of each format. The data are made up.

Needs numpy, h5py, netCDF4, astropy, pydicom, Pillow, nibabel, scipy, pyarrow, tifffile and mutagen.
"""
import os
import struct
import sys

import numpy as np

os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))


def netcdf(name, kind):
    import netCDF4

    with netCDF4.Dataset(name, "w", format=kind) as f:
        f.title = "Sea of samples"
        f.institution = "Institute of Würzburg"
        f.numbers = np.array([1, -2, 3], dtype="i4")
        f.createDimension("time", None)
        f.createDimension("lat", 4)
        f.createDimension("lon", 3)
        for dim, units in (("lat", "degrees_north"), ("lon", "degrees_east")):
            v = f.createVariable(dim, "f4", (dim,))
            v.units = units
            v[:] = range(len(f.dimensions[dim]))
        v = f.createVariable("sst", "f8", ("time", "lat", "lon"), fill_value=-999.5)
        v.units = "kelvin"
        v.long_name = "sea surface temperature"
        v.valid_range = np.array([0.25, 1e20])
        v[0] = np.zeros((4, 3))
        f.createVariable("flag", "i1", ("lon",)).meaning = "bad good"
        if kind == "NETCDF4":
            f.packages = ["alpha", "beta"]
            g = f.createGroup("ocean").createGroup("deep")
            g.comment = "below the thermocline"
            g.createDimension("depth", 5)
            s = g.createVariable("salinity", "u2", ("depth", "lon"))
            s.units = "g kg-1"
            cloud = f.createEnumType(np.uint8, "cloud_t", {"Clear": 0, "Cumulus": 1})
            f.createVariable("cover", cloud, ("lat",), fill_value=0)
            f.createVariable("station", str, ("lat",)).role = "timeseries_id"


def hdf5(name, libver, userblock=0):
    import h5py

    with h5py.File(name, "w", libver=libver, userblock_size=userblock) as f:
        f.attrs["title"] = "Old beam line"
        f.attrs["energies"] = np.array([7.5, 8.25])
        f.attrs["names"] = np.array([b"one", b"two"])
        g = f.create_group("entry/instrument")
        d = g.create_dataset("counts", data=np.zeros((2, 3), ">i4"))
        d.attrs["units"] = "photons"
        d.attrs["nx_class"] = np.bytes_("NXdata")
        f["entry/again"] = f["entry"]
        f["entry/instrument/loop"] = f["/"]
        f["soft"] = h5py.SoftLink("/entry/instrument/counts")
        f["lost"] = h5py.ExternalLink("other.h5", "/x")
        t = np.dtype([("ra", "f8"), ("dec", "f8"), ("label", "S5")])
        f.create_dataset("catalogue", shape=(7,), dtype=t)
        f.create_dataset("kind", shape=(2,), dtype=h5py.enum_dtype({"RED": 1, "GREEN": 2}))
        w = f.create_group("many")
        for i in range(12):
            w.attrs[f"a{i}"] = f"value {i}"
            w.create_dataset(f"set{i}", shape=(1,), dtype="u1")


def fits(name):
    from astropy.io import fits

    p = fits.PrimaryHDU(np.zeros((2, 3), "f4"))
    p.header["OBJECT"] = ("M 31", "galaxy of the month")
    p.header["BUNIT"] = "Jy/beam"
    p.header["LONGTEXT"] = "x" * 60 + " word continued " + "y" * 40
    p.header["HIERARCH ESO TEL NAME"] = "O'Brien"
    p.header["COMMENT"] = "a comment card"
    t = fits.BinTableHDU.from_columns(
        [fits.Column("FLUX", "E", unit="mJy", array=np.zeros(3)), fits.Column("NAME", "8A", array=["a", "b", "c"])],
        name="SOURCES",
    )
    fits.HDUList([p, t, fits.ImageHDU(np.zeros(4, "i2"), name="MASK")]).writeto(name, overwrite=True)


def dicom(name, syntax):
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset

    d = Dataset()
    d.file_meta = FileMetaDataset()
    d.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.4"
    d.file_meta.MediaStorageSOPInstanceUID = "1.2.3"
    d.file_meta.TransferSyntaxUID = syntax
    d.SOPClassUID, d.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.4", "1.2.3"
    d.PatientName, d.PatientID = "Secret^Name", "SECRETID"
    d.ReferringPhysicianName = "Secret^Doctor"
    d.Modality, d.StudyDescription, d.SeriesDescription = "MR", "Knee study", "T2 axial"
    d.BodyPartExamined, d.Manufacturer, d.StudyDate = "KNEE", "Acme", "20240131"
    d.Rows, d.Columns, d.BitsAllocated, d.PixelRepresentation = 4, 3, 16, 0
    item = Dataset()
    item.CodeMeaning = "inside"
    d.AnatomicRegionSequence = [item]
    d.PixelData = b"\0" * 24
    little = syntax != "1.2.840.10008.1.2.2"
    pydicom.dcmwrite(name, d, implicit_vr=syntax == "1.2.840.10008.1.2", little_endian=little, enforce_file_format=True)


def tables():
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    t = pa.table(
        {
            "station": pa.array(["x"]),
            "pos": pa.array([{"lat": 1.0, "lon": 2.0}]),
            "when": pa.array([0], pa.timestamp("ms")),
        }
    ).replace_schema_metadata({"origin": "buoy network"})
    pa.parquet.write_table(t, "a.parquet")
    pa.feather.write_feather(t, "a.arrow", compression="uncompressed")
    with pa.ipc.new_stream("b.arrow", t.schema) as w:
        w.write_table(t)


def images():
    from PIL import Image, PngImagePlugin

    im = Image.new("RGB", (5, 4))
    exif = im.getexif()
    exif[271], exif[272], exif[270], exif[315] = "Acme", "Cam 3", "A walk", "Jo Writer"
    exif.get_ifd(0x8769)[36867] = "2024:01:31 06:00:00"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 0.0), 3: "E", 4: (11.0, 34.0, 0.0)})
    im.save("a.jpg", exif=exif, comment=b"Remark here")
    im.save("a.webp", exif=exif)
    p = PngImagePlugin.PngInfo()
    p.add_text("Title", "Plain title")
    p.add_text("Author", "Zed Zipped", zip=True)
    p.add_itxt("Description", "Grüße", zip=True)
    im.save("a.png", pnginfo=p, exif=exif)


def tiff():
    import tifffile

    keys = (1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326)
    keys = (1, 1, 0, 4) + keys[4:] + (1026, 34737, 7, 0)
    extra = [(34735, "H", len(keys), keys, True), (34737, "s", 8, "WGS 84|", True), (315, "s", 0, "Jo Writer", True)]
    for name, big in (("a.tif", False), ("big.tif", True)):
        tifffile.imwrite(
            name, np.zeros((4, 3), "u2"), bigtiff=big, description="Band of samples", software="maker 1", extratags=extra
        )


def sound():
    from mutagen.id3 import ID3, TALB, TIT2, TPE1, COMM

    t = ID3()
    t.add(TIT2(encoding=1, text="Größe"))
    t.add(TPE1(encoding=3, text="The Band"))
    t.add(TALB(encoding=0, text="First"))
    t.add(COMM(encoding=3, lang="eng", desc="d", text="a remark"))
    open("a.mp3", "wb").close()
    t.save("a.mp3", v2_version=4, padding=lambda _: 0)
    comment = lambda pairs: b"".join(
        [struct.pack("<I", 4), b"made", struct.pack("<I", len(pairs))]
        + [struct.pack("<I", len(p)) + p for p in pairs]
    )
    body = comment([b"TITLE=Song", b"ARTIST=Singer"])
    with open("a.flac", "wb") as f:
        f.write(b"fLaC" + b"\0" + (34).to_bytes(3, "big") + b"\0" * 34)
        f.write(b"\x84" + len(body).to_bytes(3, "big") + body)
    with open("a.ogg", "wb") as f:
        for n, packet in enumerate([b"\x01vorbis" + b"\0" * 23, b"\x03vorbis" + body + b"\1"]):
            f.write(b"OggS\0\0" + b"\0" * 12 + struct.pack("<II", n, 0) + bytes([1, len(packet)]) + packet)
    box = lambda kind, data: struct.pack(">I", len(data) + 8) + kind + data
    item = lambda kind, text: box(kind, box(b"data", b"\0\0\0\1\0\0\0\0" + text))
    ilst = box(b"ilst", item(b"\xa9nam", b"Film") + item(b"\xa9ART", b"Director"))
    with open("a.mp4", "wb") as f:
        f.write(box(b"ftyp", b"isom\0\0\0\0") + box(b"moov", box(b"udta", box(b"meta", b"\0\0\0\0" + ilst))))


def grib():
    s1 = bytes([0, 0, 0, 21, 1, 0, 98, 0, 0, 2, 0, 1, 7, 0xE8, 1, 31, 6, 0, 0, 0, 1])
    s3 = (bytes([0, 0, 0, 72, 3, 0, 0, 0, 0, 12]) + bytes(20) + bytes([0, 0, 0, 4, 0, 0, 0, 3])).ljust(72, b"\0")
    s4 = (bytes([0, 0, 0, 34, 4]) + bytes(17) + bytes([100, 0, 0, 0, 0xC3, 0x50])).ljust(34, b"\0")
    body = s1 + s3 + s4 + b"7777"
    second = b"GRIB\0\0\0\2" + struct.pack(">Q", 16 + len(body)) + body
    product = bytes([0, 0, 28, 128, 98, 0, 0, 0x80, 131, 105, 0, 2, 24, 1, 31, 6, 0, 1]) + bytes(6) + b"\x15\0\0\0"
    grid = bytes([0, 0, 32, 0, 255, 0, 0, 8, 0, 5]).ljust(32, b"\0")
    with open("a.grib", "wb") as f:
        f.write(second + b"GRIB\0\0\x48\1" + product + grid + b"7777")


def others():
    import nibabel
    import scipy.io

    for name, maker in (("a.nii", nibabel.Nifti1Image), ("b.nii", nibabel.Nifti2Image)):
        im = maker(np.zeros((4, 3, 2), "i2"), np.eye(4))
        im.header["descrip"] = b"T1 weighted"
        im.header.set_xyzt_units("mm", "sec")
        nibabel.save(im, name)
    np.save("a.npy", np.zeros((5, 6), "f4"))
    np.save("b.npy", np.zeros(2, [("mass", "f8"), ("tag", "S3")]))
    for name, packed in (("a.mat", False), ("b.mat", True)):
        scipy.io.savemat(name, {"velocity": np.zeros((2, 3)), "notes": "hi"}, do_compression=packed)


netcdf("classic.nc", "NETCDF3_CLASSIC")
netcdf("offset64.nc", "NETCDF3_64BIT_OFFSET")
netcdf("data64.nc", "NETCDF3_64BIT_DATA")
netcdf("four.nc", "NETCDF4")
hdf5("old.h5", "earliest")
hdf5("new.h5", ("v110", "v110"))
hdf5("block.h5", "earliest", 512)
fits("a.fits")
dicom("implicit.dcm", "1.2.840.10008.1.2")
dicom("explicit.dcm", "1.2.840.10008.1.2.1")
dicom("big.dcm", "1.2.840.10008.1.2.2")
tables()
images()
tiff()
sound()
grib()
others()
