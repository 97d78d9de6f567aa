"""The table of formats: every entry names what is there, and a file that an entry writes is read by the entry that its ending finds."""

from __future__ import annotations

import json

import pytest

import haugmbd as mbd
from haugmbd import formats
from joints import RJ


def swing() -> mbd.System:
    system = mbd.System("swing", gravity=(0, 0, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


@pytest.mark.parametrize("entry", formats.MODELS, ids=lambda entry: entry.suffixes[0])
def test_every_entry_names_functions_that_are_there(entry):
    assert entry.reader or entry.writer
    for function in (entry.reader, entry.writer, entry.recognizes):
        assert not function or callable(formats.named(function))
    if entry.public:
        assert getattr(mbd, entry.public.removeprefix("mbd.")) is formats.named(entry.reader)


@pytest.mark.parametrize("suffix", formats.written_suffixes())
def test_what_the_table_writes_the_table_reads(suffix, tmp_path):
    path = tmp_path / f"swing{suffix}"
    try:
        formats.write(formats.writer_of(suffix), swing(), path)
    except mbd.UsageError as error:
        if suffix == ".fmu" and "make engine" in str(error):
            pytest.skip("no engine is built: make engine")
        raise
    assert path.is_file()
    reader = formats.reader_of(path)
    if suffix not in formats.read_suffixes():
        assert reader is None
        return
    if suffix == ".xml":
        pytest.importorskip("mujoco")
    again = formats.read(reader, path, 1e-4, loops=None, length=None, allow_code=False)
    assert again.tolerance == 1e-4
    assert [body.name for body in again.bodies] == ["ground", "rod"]
    assert {type(joint) for joint in again.joints} <= {RJ}  # a format may hold bodies alone


def test_of_formats_with_one_ending_the_one_that_recognizes_a_file_reads_it(tmp_path):
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    swing().save(ours)
    theirs.write_text(json.dumps({"name": "swing", "bodies": [], "constraints": []}))
    assert formats.reader_of(ours).public == "mbd.load_model"
    assert formats.reader_of(theirs).public == "mbd.read_simengine3d"


def test_a_file_of_another_format_is_read_by_its_reader_which_is_named_where_it_has_no_parameters(tmp_path):
    for entry in formats.MODELS:
        for suffix in entry.suffixes if entry.reader else ():
            if suffix not in formats.SUFFIXES:
                with pytest.raises(mbd.UsageError, match=entry.public):
                    mbd.load_model(tmp_path / f"x{suffix}", parameters={"k": 1.0})
                with pytest.raises(mbd.UsageError, match=f"x.{suffix[1:]}"):
                    mbd.load_model(tmp_path / f"x{suffix}")  # there is no such file


def test_every_view_is_there():
    for name in formats.VIEWS:
        assert formats.view(name) is not None
