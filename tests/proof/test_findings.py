"""What a report keeps of many findings: so many of each code, and how many there are of each."""

from casino.audit.verifier.findings import KEPT, Report, summary


def test_many_findings_of_one_code_hide_none_of_another() -> None:
    report = Report()
    for number in range(5 * KEPT):
        report.find("chain_broken", f"house/H#{number}", "the hash is another", at=number)
    report.find("balance_differs", "1010", "it holds 5 and not 6", at=5 * KEPT)
    assert report.found == 5 * KEPT + 1
    found = report.as_json()
    assert found["by_code"] == {"balance_differs": 1, "chain_broken": 5 * KEPT}
    assert [one["code"] for one in found["findings"]] == ["chain_broken"] * KEPT + ["balance_differs"]
    lines = summary(report, 1.0).splitlines()
    assert f"and {4 * KEPT} more of chain_broken" in lines
    assert not any("more of balance_differs" in line for line in lines)
    assert lines[-1].startswith(f"{5 * KEPT + 1} findings")
