"""The file of a printout: the rows of its report, laid out as a slip or on pages, with its proof."""

import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from django.db.models.fields.json import KeyTextTransform

from casino.audit.events.prints import DocumentPrinted
from casino.audit.models import Event
from casino.core.languages import speaking
from casino.reports.frame import as_of, registry
from casino.reports.frame.head import Head, Paper
from casino.reports.frame.language import in_words
from casino.reports.frame.report import AsOf, Checkpoint, Format, Report, Scope
from casino.reports.models import PrintForm, Printout
from casino.reports.printing import proofs, statements, winnings
from casino.reports.printing.documents import found
from casino.reports.printing.receipts import Printable, report_of
from casino.reports.printing.services import event_of
from casino.reports.render.base import produce
from casino.reports.render.formats import writers
from casino.reports.render.style import Style, style_of

_FORMATS = {PrintForm.SLIP: Format.SLIP, PrintForm.A4: Format.PDF}


def content_of(row: Printout, root: str) -> bytes:
    """The file of a printout, a PDF; `root` is the address of the house, `https://house.example`, for who checks it.

    The same printout has the same bytes while nobody cosigns its checkpoint. Raises Conflict not_in_the_log_yet.
    """
    with speaking(row.language):
        return _made(row, root)


def _made(row: Printout, root: str) -> bytes:
    house = row.house
    if "chain" in row.about:
        one = event_of(row)
        place, report, filters = (one.chain, one.seq, one.leaf_hash), _report(one), _filters(one)
    else:
        place, filters = _printing_of(row), {name: one for name, one in row.about.items() if name != "paper"}
        report = winnings.REPORT if "paper" in row.about else statements.REPORT
    proved = proofs.first_proof(place[2])
    checkpoint = Checkpoint(proved.checkpoint.epoch, proved.checkpoint.size, bytes(proved.checkpoint.root).hex())
    moment = replace(_moment(row, checkpoint), checkpoint=checkpoint)
    report = in_words(report)
    head = Head(
        report=report, house=house.code, house_name=house.name, currency=house.currency,
        exponent=house.currency_exponent, zone=house.time_zone, filters=filters, group_by=None,
        requested_by=row.printed_by, requested_at=row.printed_at, as_of=moment,
        paper=Paper(row.number, row.copy, proofs.proof_of(*place, proved, root)),
    )  # fmt: skip
    style = Style.of(style_of(row.language, None, None), exponent=head.exponent, zone=head.zone)
    with tempfile.TemporaryDirectory(prefix="print-") as folder:
        made = writers([_FORMATS[PrintForm(row.form)]], Path(folder), head, style)
        [file] = produce(report, Scope(house, moment, filters), head, made).files
        return file.path.read_bytes()


def _report(one: Printable) -> Report:
    """The report of an event: its own, or that of the catalogue which has it, under the name of the slip."""
    document = one.document
    if document.report is None:
        return report_of(one)
    return replace(registry.get(document.report[0]), title=document.title)


def _filters(one: Printable) -> dict[str, str]:
    if one.document.report is None:
        return {}
    drawer = one.chain.partition("/")[2]
    return {"drawer": drawer} | {
        name: str(found(one.doc["data"], path)) for name, path in one.document.report[1].items()
    }


def _moment(row: Printout, checkpoint: Checkpoint) -> AsOf:
    """Of a statement when it was made, else when the event was recorded."""
    if row.as_of is not None:
        return as_of.kept(row.house, row.as_of)
    one = event_of(row)
    return as_of.of_chain(row.house, one.event, datetime.fromisoformat(one.doc["at"]), checkpoint)


def _printing_of(row: Printout) -> tuple[str, int, str]:
    """The event by which a statement was printed, which has its sums: place and leaf hash."""
    rows = Event.objects.filter(house=row.house, doc__data__printout=row.number)
    printed = rows.annotate(kind=KeyTextTransform("kind", "doc")).filter(kind=DocumentPrinted.KIND)
    seq, leaf_hash = printed.values_list("seq", "leaf_hash").get()
    return row.house.chain, seq, leaf_hash
