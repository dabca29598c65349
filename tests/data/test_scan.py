"""What is detected of a text file, and how it is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from noren.data.formats import text_files
from noren.data.formats.source import Source
from noren.data.formats.text_files import _last_row_end, text_blocks
from noren.data.formats.text_layout import ENCODINGS, TextForm
from noren.data.schema import TextLayout
from noren.errors import FormatError

JAPANESE = "顧客,日付,商品\n山田太郎,2010/12/1,暖簾\n佐藤,2010/12/2,風呂敷\n"
WESTERN = "client,ville,prix\nRené,Orléans,3\nZoë,Nîmes,4\nJosé,Málaga,5\n"


def scan(
    tmp_path: Path, content: bytes, layout: TextLayout | None = None, names: tuple[str, ...] | None = None
) -> TextForm:
    (tmp_path / "file.csv").write_bytes(content)
    return Source.open(tmp_path / "file.csv").text_form(layout, names)


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        (JAPANESE, "utf-8", "read as UTF-8, delimiter ',', 3 columns, with a header"),
        (JAPANESE, "utf-8-sig", "read as UTF-8 with BOM, delimiter ',', 3 columns, with a header"),
        (JAPANESE, "cp932", "read as CP932 (Shift_JIS), delimiter ',', 3 columns, with a header"),
        (WESTERN, "iso-8859-1", "read as ISO-8859-1, delimiter ',', 3 columns, with a header"),
        (WESTERN, "utf-8", "read as UTF-8, delimiter ',', 3 columns, with a header"),
        ("a,b\n1,2\n", "ascii", "read as UTF-8, delimiter ',', 2 columns, with a header"),
    ],
)
def test_the_encoding_is_detected_and_said(tmp_path: Path, text: str, encoding: str, said: str) -> None:
    assert scan(tmp_path, text.encode(encoding)).sentence() == said
    assert scan(tmp_path, gzip.compress(text.encode(encoding))).sentence() == said


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_encoding_that_is_given_is_used(tmp_path: Path, encoding: str) -> None:
    text = "é,x\n" if encoding in ("iso-8859-1", "cp1252") else "名,x\n"
    form = scan(tmp_path, text.encode(encoding), TextLayout(encoding=encoding.upper(), header=True))
    assert form.encoding == encoding
    assert form.first_line == (text[0], "x")


def test_a_mark_wins_over_plain_utf_8(tmp_path: Path) -> None:
    form = scan(tmp_path, "\ufeffa,b\n1,2\n".encode(), TextLayout(encoding="utf-8"))
    assert (form.encoding, form.first_line) == ("utf-8-sig", ("a", "b"))


def test_a_character_cut_by_a_chunk_is_still_utf_8(tmp_path: Path) -> None:
    content = b"x" * (2**20 - 2) + b"\n" + "暖簾,x\n".encode() * 3
    assert scan(tmp_path, content).encoding == "utf-8"
    assert scan(tmp_path, content[:-5]).encoding != "utf-8"  # cut within a character
    assert scan(tmp_path, b"a\n" + "あ".encode()[:2]).encoding == "iso-8859-1"


def test_bytes_that_are_wrong_late_in_the_file_are_named_by_row(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="row 300001, 'ff': the bytes are not UTF-8"):
        scan(tmp_path, b"a,bcde\n" * 300_000 + b"\xff,1\n", TextLayout(encoding="utf-8"))
    with pytest.raises(FormatError, match="row 2, '81': the bytes are not CP932"):
        scan(tmp_path, b"a\n\x81", TextLayout(encoding="cp932"))


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_the_delimiter_is_detected_and_reported(tmp_path: Path, sign: str) -> None:
    rows = [["name", "note", "size"], ["a", "x, y", "1"], ["b", "x; y | z", "2"]]
    text = "\n".join(sign.join(f'"{cell}"' if sign in cell else cell for cell in row) for row in rows)
    form = scan(tmp_path, text.encode())
    assert (form.delimiter, form.columns) == (sign, 3)
    assert f"delimiter {sign!r}, 3 columns" in form.sentence()


@pytest.mark.parametrize(
    ("content", "names", "delimiter"),
    [
        (b"1,[2;3],{a;b;c;d},[4;5]\n7,[2;3],{a;b;c;d},[4;5]\n", None, ","),  # released cells hold semicolons
        (b"a;b\n1,5;2,5\n1,5;2,5\n", None, ";"),  # decimal commas
        (b"a,b\nx;y;z,1\nx;y;z,2\n", ("a", "b"), ","),  # a schema knows the columns
        (b"x;y;z,1\nx;y;z,2\n", ("a", "b"), ","),
        (b"a\nx;y\nx;y\n", ("a",), ","),  # one column
        (b"x\ny\n", None, ","),
        (b"{a;b}", ("a", "b"), ","),
    ],
)
def test_delimiters_inside_cells_do_not_mislead(
    tmp_path: Path, content: bytes, names: tuple[str, ...] | None, delimiter: str
) -> None:
    assert scan(tmp_path, content, None, names).delimiter == delimiter


@pytest.mark.parametrize(
    ("content", "names", "header"),
    [
        (b"name,age\na,30\nb,31\n", None, True),  # numbers below texts
        (b"2010/12/1,x\n2010/12/2,y\n", None, False),  # a date is no name
        (b"a,30\nb,31\n", None, False),
        (b",x\n1,2\n", None, True),  # an index without a name, as pandas writes it
        (b",x\n1,y\n", None, False),  # nothing below a name looks unlike one
        (b"name,town\nanna,bern\nberta,basel\n", None, True),  # never comes again
        (b"anna,bern\nanna,basel\n", None, False),
        (b"a,a,n\n1,2,3\n", None, True),  # repeated, but nothing below looks like it
        (b"x,x\ny,y\n", None, False),
        (b"name,town\n", None, True),  # alone
        (b"name,town\n", ("a", "b"), False),
        (b"town,name\nx,y\n", ("name", "town"), True),  # the names that are expected
        (b"anna,bern\nberta,basel\n", ("name", "town"), False),
        (b"*,x\n*,y\n", None, False),
        (b"[1;2],{a;b}\n", None, False),
        (b"8:45,x\n", None, False),
    ],
)
def test_the_header_is_detected(tmp_path: Path, content: bytes, names: tuple[str, ...] | None, header: bool) -> None:
    form = scan(tmp_path, content, None, names)
    assert form.header is header
    assert form.sentence().endswith("with a header" if header else "no header")
    assert scan(tmp_path, content, TextLayout(header=not header), names).header is not header


@pytest.mark.parametrize(
    ("content", "newline", "final", "mixed"),
    [
        (b"a,b\n1,2\n", "\n", True, False),
        (b"a,b\r\n1,2\r\n", "\r\n", True, False),
        (b"a,b\r1,2\r", "\r", True, False),
        (b"a,b\n1,2", "\n", False, False),
        (b"a,b", "\n", False, False),
        (b"a,b\r\n1,2\n", "\r\n", True, True),
        (b"a,b\r1,2\n", "\n", True, True),
        (b"x" * (2**20 - 1) + b"\r\n" + b"y\r\n", "\r\n", True, False),  # a pair cut by a chunk
    ],
)
def test_line_ends(tmp_path: Path, content: bytes, newline: str, final: bool, mixed: bool) -> None:
    form = scan(tmp_path, content)
    assert (form.newline, form.final_newline, form.mixed_newlines) == (newline, final, mixed)


def test_comments_and_spaces_of_uci(tmp_path: Path) -> None:
    form = scan(tmp_path, b"|1x3 Cross validator\n25, Private, Male\n", TextLayout(comment="|", strip=True))
    assert (form.skipped_lines, form.first_line, form.header) == (1, ("25", "Private", "Male"), False)


def test_quotes_are_text_where_nobody_quotes(tmp_path: Path) -> None:
    (tmp_path / "A.csv").write_bytes(b'"a,b\n1,2\n')
    form = Source.open(tmp_path / "A.csv").text_form(TextLayout(delimiter=",", header=False), quoting=False)
    assert (form.first_line, form.columns, form.quoted) == (('"a', "b"), 2, False)
    with pytest.raises(FormatError, match="never closed"):
        Source.open(tmp_path / "A.csv").text_form(TextLayout(delimiter=",", header=False))


@pytest.mark.parametrize(
    "content",
    [
        b'5" pipe,1\n6 pipe,2\n',  # a quote inside a cell opens nothing
        b'"a ""b""",1\n',
        b'"a\nb",1\n',
        b'x,"a\r\n\r\nb"\r\n',
        b'"a"b,5"\n',
    ],
)
def test_closed_quotes(tmp_path: Path, content: bytes) -> None:
    assert scan(tmp_path, content).quoted


def test_the_row_of_an_open_quote_counts_rows_not_lines(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="row 3: a double quote opens a cell and is never closed"):
        scan(tmp_path, b'a,b\n"1\n2",3\n4,"5\n6,7\n')


def test_a_header_longer_than_the_sample(tmp_path: Path) -> None:
    names = ",".join(f"a rather long column name {i}" for i in range(60_000))
    form = scan(tmp_path, (names + "\n" + "1," * 59_999 + "1\n").encode())
    assert (form.columns, form.header) == (60_000, True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark_is_read(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    form = scan(tmp_path, (mark + JAPANESE).encode(encoding))
    assert form.sentence() == "read as UTF-16, delimiter ',', 3 columns, with a header"
    assert form.first_line == ("顧客", "日付", "商品")
    assert form.newline == "\n"
    blocks = [block for _row, block in text_blocks(tmp_path / "file.csv", form)]
    assert blocks[0].row(1) == ("佐藤", "2010/12/2", "風呂敷")


def test_the_encodings_of_japan_and_of_windows_are_told_apart(tmp_path: Path) -> None:
    assert scan(tmp_path, JAPANESE.encode("euc_jp")).encoding == "euc_jp"
    assert scan(tmp_path, JAPANESE.encode("cp932")).encoding == "cp932"
    assert scan(tmp_path, "名,値\nﾃｽﾄ,1\nヤマダ,2\n".encode("cp932")).encoding == "cp932"
    euro = "article,prix\ncafé,5 €\n".encode("cp1252")
    assert scan(tmp_path, euro).encoding == "cp1252"
    assert scan(tmp_path, euro.replace(b"\x80", b"\xa4")).encoding == "iso-8859-1"
    assert scan(tmp_path, JAPANESE.encode("cp932"), TextLayout(encoding="Shift_JIS")).encoding == "cp932"


@pytest.mark.parametrize(
    ("above", "count"),
    [
        ("Sales of March 2024\n", 1),
        ("Sales of March 2024\n\n", 2),
        ("\n\n", 2),
        ("Sales,,\nprinted,,\n", 2),
        ("売上一覧\n作成日: 2024/3/1\n\n", 3),
        ("", 0),
    ],
)
def test_titles_above_the_header_are_passed_over_and_said(tmp_path: Path, above: str, count: int) -> None:
    form = scan(tmp_path, (above + "who,when,price\na,2024/3/1,3\nb,2024/3/2,4\n").encode())
    assert (form.skipped_lines, form.first_line, form.header) == (count, ("who", "when", "price"), True)
    assert form.sentence().endswith(f"; {count} lines above the table skipped" if count else "with a header")
    rows = [block.rows() for _row, block in text_blocks(tmp_path / "file.csv", form)]
    assert rows == [[("a", "2024/3/1", "3"), ("b", "2024/3/2", "4")]]
    assert scan(tmp_path, (above + "who,when,price\n").encode(), None, ("price", "who")).skipped_lines == count


def test_rows_are_never_passed_over_as_titles(tmp_path: Path) -> None:
    form = scan(tmp_path, b"1,,\n1,2,3\n4,5,6\n")
    assert (form.skipped_lines, form.header) == (0, False)
    form = scan(tmp_path, b"a\nb\nc\n")
    assert form.skipped_lines == 0


@pytest.mark.parametrize(
    ("text", "quoted", "end"),
    [
        ("a,b\nc,d\ne", False, 8),
        ("a,b\r\nc,d\r", False, 5),  # its line feed may follow
        ('a,"b\nc"\nd', True, 8),
        ('a,"b\nc', True, 0),
        ('x\na,"b\nc', True, 2),
        ('5" pipe\nx', True, 8),  # a quote inside a cell opens nothing
        ('"a ""b""\n",1\nx', True, 13),
        ("abc", True, 0),
    ],
)
def test_pieces_end_where_rows_end(text: str, quoted: bool, end: int) -> None:
    assert _last_row_end(text, ",", quoted=quoted) == end


@pytest.mark.parametrize("size", [64, 1000])
@pytest.mark.parametrize("encoding", ["cp932", "utf-16", "gzip"])
def test_foreign_texts_come_in_the_same_rows_for_any_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, encoding: str
) -> None:
    rows = [(f"顧客{i}", 'a "b", c' if i % 3 else "line\nline", str(i)) for i in range(60)]
    text = "who,what,count\n" + "".join(f'{a},"{b.replace(chr(34), chr(34) * 2)}",{c}\n' for a, b, c in rows)
    content = gzip.compress(text.encode()) if encoding == "gzip" else text.encode(encoding)
    form = scan(tmp_path, content)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", size)
    numbered = list(text_blocks(tmp_path / "file.csv", form))
    assert [row for _first, block in numbered for row in block.rows()] == rows
    heights = [len(block) for _first, block in numbered]
    assert [first for first, _block in numbered] == [2 + sum(heights[:i]) for i in range(len(heights))]
    (tmp_path / "file.csv").write_bytes(
        gzip.compress((text + "x,y\n").encode()) if encoding == "gzip" else (text + "x,y\n").encode(encoding)
    )
    with pytest.raises(FormatError, match="row 62, 'x,y': the row has 2 cells, the others 3"):
        list(text_blocks(tmp_path / "file.csv", form))
