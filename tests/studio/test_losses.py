"""The result page says what was lost; customers are named to stewards alone."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from tests.studio.conftest import laid_project
from tests.studio.staffed import Staffed, run_by

from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.measures.losses import losses


def test_customers_are_named_to_stewards_alone(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio")
    project = staffed.shop(tmp_path)
    run = run_by(staffed.client, project, k=6)
    staff = staffed.hire()
    folders, job = staffed.studio.folders, staffed.studio.folders.job(project, run)
    schema = Schema.from_toml(folders.schema(project).read_text(encoding="utf-8"))
    expected = losses(read(folders.data(project), schema).data, Release.load(job / "release"))
    assert json.loads((job / "losses.json").read_text()) == json.loads(json.dumps(expected.to_dict()))
    assert (job / "losses.json").stat().st_mode & 0o077 == 0
    address = f"/projects/{project}/results/{run}"
    shared = staff["ann"].put(f"/api/v1/projects/{project}/readers", json={"readers": ["cora"]})
    assert shared.status_code == 200, shared.text
    steward, reader = (html.unescape(staff[who].get(address).text) for who in ("ann", "cora"))
    for page in (steward, reader):
        assert all(text in page for text in (str(expected), *expected.sentences()))
    sections = [page[page.index('id="losses"') :].partition("</section>")[0] for page in (steward, reader)]
    dearest = expected.secret.customers[0].customer
    assert [f"<th scope=row>{dearest}</th>" in section for section in sections] == [True, False]
    (job / "losses.json").unlink()  # a run made before losses were kept
    assert 'id="losses"' not in staff["ann"].get(address).text
    staffed.studio.close()


def test_the_proposal_fills_in_the_form(tmp_path: Path) -> None:
    staffed = Staffed(tmp_path / "studio")
    who = ["big"] * 80 + [f"c{n % 4}" for n in range(16)]
    rows = [f"{name},2011/1/{n % 28 + 1},i{n % 5},1.5,1" for n, name in enumerate(who)]
    (tmp_path / "t.csv").write_text("customer,date,item,price,quantity\n" + "\n".join(rows) + "\n")
    project = laid_project(staffed, "Shop", file=tmp_path / "t.csv")  # type: ignore[arg-type]
    run = run_by(staffed.client, project, k=2)
    page = html.unescape(staffed.client.get(f"/projects/{project}/results/{run}").text)
    assert "To leave it out, limit the rows per customer to 5 (--most-rows 5)." in page
    address = f"/projects/{project}/protect?from={run}&most_rows=5"
    assert f'href="{address}"' in page
    assert re.search(r'<input[^>]*name="0.most_rows"[^>]*value="5"', staffed.client.get(address).text)
    staffed.studio.close()
