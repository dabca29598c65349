"""The papers that go with a release: known texts, five items, fields that are listed, stamps, every kind of data."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.conftest import NO_PUBLISHED_DATA
from tests.papers.conftest import SHARED, few_members

import noren
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release, Secret
from noren.data.schema import Column
from noren.data.statement import Statement
from noren.errors import FileError, ParameterError
from noren.i18n import LANGUAGES, use_language
from noren.judgement.sentences import verdict_label
from noren.judgement.verdict import VerdictStatus
from noren.papers.card import card_files
from noren.papers.case import Case, case_of, is_pseudonymised_only
from noren.papers.document import Document, DocumentTable, Field, Pack, plain
from noren.papers.pack import pack_as_data, pack_files, pack_of, write_pack
from noren.papers.wording import drafts, fact_fields, read_facts

LAWS = ("appi", "gdpr")


def papers(case: Case, law: str = "appi", language: str = "ja", **how: object) -> Pack:
    with use_language(language):
        return pack_of(case, law, **how)  # type: ignore[arg-type]


def named(pack: Pack, name: str) -> Document:
    return next(document for document in pack.documents if document.name == name)


def said(document: Document) -> str:
    return "\n".join(plain(text) for text in document.texts())


def items_of_the_standard(pack: Pack) -> list[str]:
    grid = next(block for block in named(pack, "3-standard").sections[0].blocks if isinstance(block, DocumentTable))
    return [plain(row[0]) for row in grid.rows]


# --- known texts -----------------------------------------------------------------------------------------------------


def test_every_text_is_drafted_in_both_languages() -> None:
    for key, draft in drafts().items():
        assert set(draft) == set(LANGUAGES), key
        places = [set(re.findall(r"\{(\w+)\}", draft[language])) for language in LANGUAGES]
        assert places[0] == places[1], key
        assert all(draft.values()), key
    for name, fact in fact_fields().items():
        assert set(fact) == {"of", *LANGUAGES}, name
        assert fact["of"] in ("organisation", "project", "release"), name


@pytest.mark.parametrize(
    ("methods", "only"),
    [
        (["pseudonymize"], True),
        (["monthly-pseudonyms"], True),
        (["thin", "monthly-pseudonyms"], False),
        (["thin"], False),
    ],
)
def test_a_chain_that_does_more_is_not_pseudonymised_only(shop: History, methods: list[str], only: bool) -> None:
    assert is_pseudonymised_only(noren.protect(shop, methods, seed=1)) is only


def test_what_japan_s_law_asks_a_maker_to_publish(case: Callable[..., Case]) -> None:
    known = {
        "company": "株式会社のれん",
        "provision": "暗号化した媒体の送付",
        "recipient": "乙社",
        "provided_on": "12月1日",
    }
    pack = papers(case("generalize-by-count", k=5), known=known)
    assert [document.name for document in pack.documents] == [
        "1-making", "2-providing", "3-standard", "4-recipient", "5-register", "6-open",
    ]  # fmt: skip
    making, providing, recipient = (named(pack, name) for name in ("1-making", "2-providing", "4-recipient"))
    assert making.basis.startswith("法第43条第3項、規則第36条")
    assert said(making).startswith("株式会社のれんは、匿名加工情報を作成しました。")
    assert "date（購買日）" in said(making)
    assert providing.basis.startswith("法第43条第4項、規則第37条")
    assert "暗号化した媒体の送付" in said(providing)
    assert "乙社 御中　株式会社のれんは、12月1日に提供する情報が匿名加工情報であることを、ここに明示します。" in said(
        recipient
    )
    assert "法第45条" in said(recipient)
    assert named(pack, "5-register").basis == "法第43条第2項、規則第35条第1号から第3号まで"
    assert "対応表（公開部分の仮名：12）" in said(named(pack, "5-register"))


def test_categories_say_no_more_than_the_columns(case: Callable[..., Case]) -> None:
    pack = papers(case("generalize-by-count", k=5), language="en")
    points = [plain(item) for item in named(pack, "1-making").sections[0].blocks[1].items]  # type: ignore[union-attr]
    assert points == [
        "pseudonym in place of the customer",
        "date (date of purchase)",
        "item (item bought)",
        "price (price)",
        "quantity (quantity)",
    ]


def test_a_column_is_contained_empty_or_deleted_and_never_two_of_them(shop: History) -> None:
    """A receipt number that the method empties is no longer "in the release" in one item and "deleted" in the next."""
    receipts = shop.frame.with_columns(receipt=pl.int_range(pl.len()).cast(pl.String), staff=pl.lit("ann"))
    columns = [*shop.schema.columns, Column(name="receipt", role="invoice"), Column(name="staff", role="identifier")]
    schema = shop.schema.model_copy(update={"name": "shop", "columns": tuple(columns)})
    history = History(receipts, schema)
    about = case_of(noren.protect(history, "generalize-by-count", k=5, seed=1), history)
    assert [column.name for column in about.public.emptied] == ["receipt"]
    assert [column.name for column in about.public.dropped or ()] == ["staff"]
    assert about.public.rows == len(about.release.public)
    pack = papers(about, language="en")
    making = said(named(pack, "1-making"))
    assert "receipt (invoice)" not in making
    assert "every cell of them is empty, so they contain no information: receipt." in making
    assert "staff" not in making
    rows = next(b for b in named(pack, "3-standard").sections[0].blocks if isinstance(b, DocumentTable)).rows
    first, second, third, fourth, fifth = ([plain(cell) for cell in row] for row in rows)
    empty = "receipt: every cell is empty: the column says nothing"
    deleted = "staff: deleted: the release has no such column"
    assert deleted in first[3]
    assert deleted in second[3]
    assert empty in third[3]
    assert empty in fourth[3]
    assert "is released" not in third[3]
    assert fifth[1] == "customer, date, item, price, quantity"
    notice = said(named(pack, "4-recipient"))
    empty_cells = sum(column.suppressed for column in about.public.columns)
    assert empty_cells >= about.public.rows
    counts = f"{about.public.rows} rows, 5 columns with values, 1 columns without any; {empty_cells} empty cells"
    assert f"Public part: {counts}; pseudonyms: 12." in notice


def test_papers_about_a_method_that_is_not_known_here_claim_nothing_of_it(shop: History) -> None:
    made = noren.protect(shop, "pseudonymize", seed=1)
    about = case_of(Release(made.public, made.secret, Statement("by hand")))
    standard = said(named(papers(about, language="en"), "3-standard"))
    assert "customer: pseudonyms; how they were chosen is not known here" in standard
    assert "nothing shows how pseudonyms were chosen or rows ordered" in standard
    assert "at random" not in standard
    assert "at random" not in card_files(about.release)["card.en.md"].decode()


def test_long_names_of_columns_stay_apart(shop: History) -> None:
    names = [f"{'column of the shop ' * 5}{end}" for end in ("a", "b")]
    frame = shop.frame.with_columns(pl.lit("x").alias(name) for name in names)
    columns = (*shop.schema.columns, *(Column(name=name, role="other") for name in names))
    history = History(frame, shop.schema.model_copy(update={"name": "shop", "columns": columns}))
    making = said(named(papers(case_of(noren.protect(history, "thin", seed=1)), language="en"), "1-making"))
    assert all(f"{name} (other)" in making for name in names)


def test_pseudonyms_in_place_of_an_identifier_are_not_called_identifying(adult) -> None:
    table, _release = adult
    about = case_of(noren.protect(table, "mondrian", k=5, identifiers="pseudonyms", seed=1), table)
    pack = papers(about, language="en")
    assert about.public.pseudonyms == 40
    assert "name (pseudonym)" in said(named(pack, "1-making"))
    assert "name: replaced by pseudonyms drawn at random" in said(named(pack, "3-standard"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_five_items_are_always_there(case: Callable[..., Case], language: str, adult) -> None:
    table, release = adult
    for about in (case("generalize-by-count", k=5), case_of(release), case_of(release, table)):
        items = items_of_the_standard(papers(about, language=language))
        starts = (
            ["第1号", "第2号", "第3号", "第4号", "第5号"] if language == "ja" else [f"Item {i}" for i in range(1, 6)]
        )
        assert [item[: len(start)] for item, start in zip(items, starts, strict=True)] == starts


def test_the_evidence_is_that_of_the_judgement(case: Callable[..., Case]) -> None:
    about = case("generalize-by-count", k=5)
    assert about.verdict.status == VerdictStatus.PROVED
    with use_language("en"):
        pack = pack_of(about, "appi")
        text = said(named(pack, "3-standard"))
        assert about.verdict.sentence in text
    for one in about.verdict.evidence:
        assert one.attack in text
    assert "The smallest number of people who share everything released of them, counted: 5." in text
    assert about.least == 5


def test_an_impact_assessment_answers_three_questions_and_says_what_was_not_measured(case: Callable[..., Case]) -> None:
    pack = papers(case("generalize-by-count", k=5), "gdpr", "en")
    annex = named(pack, "1-dpia")
    titles = [section.title for section in annex.sections]
    assert [title[:13] for title in titles[1:4]] == ["1. Singling o", "2. Linkabilit", "3. Inference:"]
    assert "Not measured: what is inferred of people" in said(annex)
    assert "linked by design" in said(annex)
    texts = [plain(text) for text in annex.texts()]
    assert [text[:36] for text in texts if "known purchases" in text] == [
        "In the original, before it was proce",
        "In the release 4 known purchases lea",
    ]


def test_the_original_s_unicity_is_told_where_the_release_s_cannot_be_measured(case: Callable[..., Case]) -> None:
    annex = said(named(papers(case("monthly-pseudonyms"), "gdpr", "en"), "1-dpia"))
    assert "In the original, before it was processed: 4 known purchases single out" in annex
    assert "Not measured: how many people a few known purchases single out in the release, where" in annex
    assert "the original is needed, with more than one customer" not in annex


def test_without_the_original_nothing_is_said_to_be_measured(case: Callable[..., Case]) -> None:
    release = case("swap").release
    pack = papers(case_of(release), "gdpr", "en")
    text = said(named(pack, "1-dpia"))
    assert case_of(release).verdict.status == VerdictStatus.UNTRIED
    assert "the original was not given" in text
    assert "Not measured: how many people a few known purchases single out" in text
    assert all(document.stamp.startswith("■ untried") for document in pack.documents)


# --- fields to fill in -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["generalize-by-count", "pseudonymize"])
def test_every_field_is_marked_and_listed_at_the_end(
    case: Callable[..., Case], law: str, language: str, method: str
) -> None:
    pack = papers(case(method, **({"k": 5} if method != "pseudonymize" else {})), law, language)
    *others, last = pack.documents
    marked = {part for document in others for text in document.texts() for part in text if isinstance(part, Field)}
    assert len(marked) >= 8
    listed = said(last)
    for one in marked:
        assert one.what in listed
        assert str(one) == (f"【要記入：{one.what}】" if language == "ja" else f"[TO FILL IN: {one.what}]")
    raw = "\n".join(said(document) for document in others)
    assert raw.count("【要記入：" if language == "ja" else "[TO FILL IN: ") >= len(marked)
    assert not re.search(r"\{\w+\}", raw)


def test_facts_fill_fields_and_decisions_stay_open(case: Callable[..., Case]) -> None:
    everything = {name: f"<{name}>" for name in fact_fields()}
    pack = papers(case("generalize-by-count", k=5), known=everything)
    assert [one.key for _document, one in pack.fields()] == [""] * 5  # one for each item of the standard
    assert "<contact>" in said(named(pack, "1-making"))
    page = dict(pack_files(pack, case("generalize-by-count", k=5)))["1-making.html"].decode()
    assert "&lt;contact&gt;" in page
    assert "<contact>" not in page


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('compny = "x"', "compny is not a fact of the papers"),
        ("company = 3", "company has no text"),
        ('company = "', "the file is not TOML .*; correct it"),
        (f'company = "{"x" * 2001}"', "company is too long; use 2,000 characters or fewer"),
    ],
)
def test_a_wrong_file_of_facts_is_told_in_one_line(tmp_path, text: str, complaint: str) -> None:
    path = tmp_path / "facts.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=complaint):
        read_facts(path)


def test_dates_are_facts_as_well(tmp_path) -> None:
    (tmp_path / "facts.toml").write_text('made_on = 2026-11-01\ncompany = " A\\nB "\n')
    assert read_facts(tmp_path / "facts.toml") == {"made_on": "2026-11-01", "company": "A B"}


# --- a broken release, a pseudonymised one ---------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("law", LAWS)
def test_a_broken_release_is_stamped_on_every_page_and_section(
    case: Callable[..., Case], law: str, language: str
) -> None:
    about = case("thin", share=0.1)
    assert about.verdict.status == VerdictStatus.BROKEN
    pack = papers(about, law, language)
    with use_language(language):
        mark = verdict_label(VerdictStatus.BROKEN)
    files = dict(pack_files(pack, about))
    for document in pack.documents:
        assert document.stamp.startswith(mark)
        page = files[f"{document.name}.html"].decode()
        assert page.count(f'class="stamp">{mark}') == len(document.sections)
        assert page.count(f'class="stamp every-page">{mark}') == 1
        assert files[f"{document.name}.md"].decode().count(mark) >= len(document.sections) + 1
        parts = zipfile.ZipFile(io.BytesIO(files[f"{document.name}.docx"]))
        assert mark in parts.read("word/header1.xml").decode()
        assert parts.read("word/document.xml").decode().count(mark) >= len(document.sections)
    assert json.loads(files["papers.json"])["stamped"] is True


def test_a_safe_release_has_no_stamp(case: Callable[..., Case]) -> None:
    about = case("generalize-by-count", k=5)
    pack = papers(about, language="en")
    assert not any(document.stamp for document in pack.documents)
    assert b'class="stamp' not in dict(pack_files(pack, about))["1-making.html"]
    assert pack_as_data(pack, about)["stamped"] is False


@pytest.mark.parametrize("method", ["pseudonymize", "monthly-pseudonyms"])
def test_a_pseudonymised_release_is_never_called_anonymous(case: Callable[..., Case], method: str) -> None:
    about = case(method)
    assert is_pseudonymised_only(about.release)
    pack = papers(about)
    assert [document.name for document in pack.documents] == [
        "1-standard", "2-publication", "3-notice", "4-register", "5-open",
    ]  # fmt: skip
    for document in pack.documents[:-1]:
        assert "このリリースは匿名加工情報ではありません。" in said(document)
        assert "法第41条第6項" in said(document)
    assert "規則第31条" in named(pack, "1-standard").basis
    annex = papers(about, "gdpr", "en").documents[0]
    assert "Pseudonymised data stay personal data" in said(annex)


def test_the_kind_of_information_can_be_chosen(case: Callable[..., Case]) -> None:
    assert len(items_of_the_standard(papers(case("pseudonymize"), about="anonymised"))) == 5
    strong = papers(case("generalize-by-count", k=5), about="pseudonymised")
    assert strong.documents[0].name == "1-standard"
    assert "仮名加工情報として作成されました" in said(strong.documents[0])


# --- every kind of data ----------------------------------------------------------------------------------------------


def test_one_customer() -> None:
    history = noren.sample(customers=1, rows=5, seed=1, schema="pwscup2018")
    about = case_of(noren.protect(history, "perturb", seed=1), history)
    for language in LANGUAGES:
        for law in LAWS:
            pack = papers(about, law, language)
            assert len(dict(pack_files(pack, about))) == 3 * len(pack.documents) + 1


def test_a_table(adult) -> None:
    table, release = adult
    about = case_of(release, table, rule="partner")
    pack = papers(about, language="en")
    text = said(named(pack, "3-standard"))
    assert [column.name for column in about.public.dropped or ()] == ["name"]
    assert "name | " not in text
    assert "name: deleted: the release has no such column" in text
    annex = said(papers(about, "gdpr", "en").documents[0])
    assert "each person has one row" in annex
    assert f"{about.least} people who are alike in every column by which a person could be looked up" in annex
    assert "No class tells a sensitive value" in annex


def test_an_original_that_is_another_is_refused(adult, shop) -> None:
    table, release = adult
    other = noren.Table(table.frame.with_columns(pl.col("age") + 1), table.schema)
    with pytest.raises(ParameterError, match="was not made from this original"):
        case_of(release, other)
    handed_out = Release(release.public, Secret.empty(), release.statement)
    with pytest.raises(ParameterError, match="was not made from this original"):
        case_of(handed_out, shop)
    assert case_of(handed_out, table).verdict.evidence == ()


@pytest.mark.skipif(not SHARED.is_dir(), reason=NO_PUBLISHED_DATA)
@pytest.mark.parametrize(
    ("file", "customer"), [("groceries_members.parquet", "Member_number"), ("cdnow.parquet", "customer_id")]
)
def test_purchases_of_other_shops(file: str, customer: str, tmp_path) -> None:
    column = (
        customer if customer in pl.read_parquet_schema(SHARED / file) else pl.read_parquet(SHARED / file).columns[0]
    )
    few_members(file, column, 20).write_parquet(tmp_path / "few.parquet")
    data = read(tmp_path / "few.parquet", None, customer=column).data
    about = case_of(noren.protect(data, "generalize-by-count", k=5, seed=1), data)
    assert about.verdict.status == VerdictStatus.PROVED
    for language in LANGUAGES:
        assert len(items_of_the_standard(papers(about, language=language))) == 5
        papers(about, "gdpr", language)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_documents_open_as_word_files(case: Callable[..., Case], language: str) -> None:
    about = case("generalize-by-count", k=5)
    pack = papers(about, language=language, known={"company": "A & B <\x07>"})
    for document in pack.documents:
        archive = zipfile.ZipFile(io.BytesIO(dict(pack_files(pack, about))[f"{document.name}.docx"]))
        assert archive.testzip() is None
        trees = {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}
        assert archive.namelist()[0] == "[Content_Types].xml"
        overrides = {part.get("PartName") for part in trees["[Content_Types].xml"] if part.get("PartName")}
        assert overrides == {f"/{name}" for name in trees if name.startswith("word/") and "_rels" not in name}
        word = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
        texts = "".join(node.text or "" for node in trees["word/document.xml"].iter(f"{word}t"))
        styles = {node.get(f"{word}styleId") for node in trees["word/styles.xml"].iter(f"{word}style")}
        used = {node.get(f"{word}val") for node in trees["word/document.xml"].iter(f"{word}pStyle")}
        assert used <= styles
        for text in document.texts():
            assert plain(text).replace("\n", "") in texts
    assert "A & B <�>" in texts or "A & B <�>" in said(pack.documents[0])


def test_the_same_papers_are_the_same_bytes_and_replace_each_other_alone(case, tmp_path) -> None:
    about = case("generalize-by-count", k=5)
    pack = papers(about)
    assert dict(pack_files(pack, about)) == dict(pack_files(papers(about), about))
    folder = write_pack(pack, about, tmp_path / "papers")
    write_pack(pack, about, folder, replace_existing=True)
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(noren.NorenError, match=r"mine\.txt"):
        write_pack(pack, about, folder, replace_existing=True)
    assert (folder / "mine.txt").read_text() == "mine"


def test_no_paper_tells_the_secret(case: Callable[..., Case]) -> None:
    about = case("generalize-by-count", k=5)
    secret = about.release.secret
    for law in LAWS:
        for name, content in pack_files(papers(about, law), about):
            if name.endswith(".docx"):
                archive = zipfile.ZipFile(io.BytesIO(content))
                content = b"".join(archive.read(part) for part in archive.namelist())
            assert str(secret.digest).encode() not in content
    public = "\n".join(said(d) for d in papers(about).documents if d.name in ("1-making", "2-providing", "4-recipient"))
    for number in (about.release.deleted_rows, secret.original_rows):
        assert str(number) not in public
