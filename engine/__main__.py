"""``python -m engine``: rank hands, replay, check and export records, play random hands, list the games.

rank GAME [--wild CARD,...] [--grigare general|kis_nagy [--grigare-wild natural|substitute]] CARDS...
                                                                     one JSON object a hand; a higher key wins
equity GAME CARDS --opponents N [--before K] [--dead CARDS] [--wild ...] [--grigare ...]
                                                                     deals won, lost and all of them, counted
odds GAME CARDS --trump CARD --draw 1|2|3|4|up [--dead CARDS]        draws by trumps and by better hands, counted
replay FILE|-                                                        one JSON object a record
deck FILE|-                                                          deals made again from their seeds, one object each
opening FILE|-                                                       openings of cards, checked against their roots
best FILE|- [--seats p1,p3] [--cards 5] [--net]                      what the seats can still force, all cards open
phh FILE|-                                                           the records as PHH, a table each
pbn FILE|-                                                           deals of trick games in a notation after PBN
fist VIZI NONCE                                                      the commitment to a vizi held in the fist
play GAME [--seats N] [--hands N] [--seed S] [--opt k=v] [--stack N] writes records
games [--verbs GAME | --options GAME]                                the games, the vocabulary or the options of one
pages FOLDER                                                         writes the reference pages of the games there

Exit status: 0 all is well; 1 a record, a deal or an opening is wrong; 2 unusable input, or nothing reads the
output.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.best_play import NET, TRICKS, best_play, last_cards
from engine.deal.opening import check_opening, opening_document
from engine.deal.rebuild import check_deal, check_roots, rebuilt
from engine.errors import EngineError, UnknownOption, UnreadableRecord
from engine.kernel.cards import split_cards
from engine.kernel.game import require_seats
from engine.kernel.rules import describe
from engine.play import Sitting, play_evening
from engine.record.format import Record, format_record, parse_object, parse_record, record_from
from engine.record.notation import pbn_of
from engine.record.phh import phh_of
from engine.record.replay import replay
from engine.reference import pages
from engine.registry import game_info, game_names
from engine.tricks.ramsli_odds import DRAWS, UP, draw_odds
from engine.vying.equity import equity
from engine.vying.kinds import GRIGARE_WILD
from engine.vying.majzli import majzli_commitment
from engine.vying.ranking import Ranking, ferbli_ranking, ranking_of

OK, WRONG, UNUSABLE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; closing stderr too keeps the interpreter from complaining about it at exit.
        sys.stderr.close()
        return UNUSABLE
    except (EngineError, OSError, UnicodeError) as error:
        print(f"python -m engine: {_describe(error)}", file=sys.stderr)
        return UNUSABLE
    return status


def _describe(error: Exception) -> str:
    return f"{error.code}: {error.message}" if isinstance(error, EngineError) else str(error)


_ENCODER = json.JSONEncoder(separators=(",", ":"))


def _print(value: object) -> None:
    sys.stdout.write(_ENCODER.encode(value) + "\n")


def _rank(arguments: argparse.Namespace) -> int:
    hands = [(text, split_cards(text)) for text in arguments.cards]
    ranked = [(text, _ranking(arguments, cards).rank(cards)) for text, cards in hands]
    for text, rank in ranked:
        _print(
            {
                "cards": text,
                "category": rank.category,
                "points": rank.points,
                "key": rank.key,
                "text": rank.text,
            }
        )
    return OK


def _ranking(arguments: argparse.Namespace, cards: Sequence[str]) -> Ranking:
    if arguments.game == "ferbli":
        return ferbli_ranking(arguments.wild, arguments.grigare, arguments.grigare_wild)
    ranking = ranking_of(arguments.game, cards)
    if arguments.wild or arguments.grigare != "off" or arguments.grigare_wild != "natural":
        raise UnknownOption("wild cards and grigáré are variations of Ferbli", games=["ferbli"])
    return ranking


def _equity(arguments: argparse.Namespace) -> int:
    hand, dead = split_cards(arguments.cards), split_cards(arguments.dead)
    ranking = _ranking(arguments, hand)
    found = equity(ranking, hand, arguments.opponents, dead=dead, before=arguments.before)
    _print({"wins": found.wins, "losses": found.losses, "total": found.total, "share": found.share})
    return OK


def _odds(arguments: argparse.Namespace) -> int:
    hand, dead = split_cards(arguments.cards), split_cards(arguments.dead)
    draw = arguments.draw if arguments.draw == UP else int(arguments.draw)
    found = draw_odds(hand, arguments.trump, draw, dead=dead)
    _print(asdict(found) | {"share": found.share})
    return OK


def _replay(arguments: argparse.Namespace) -> int:
    return _each_line(arguments.file, lambda fields: _replay_record(record_from(fields)))


@contextmanager
def _opened(file: str) -> Iterator[Iterable[bytes]]:
    """The lines of a file, or of standard input for ``-``."""
    if file != "-":
        with Path(file).open("rb") as lines:
            yield lines
    elif sys.stdin is None:  # started with standard input closed
        raise UnreadableRecord("there is no standard input")
    else:
        yield sys.stdin.buffer


def _each_line(file: str, answer: Callable[[dict[str, Any]], int]) -> int:
    """``answer`` writes one answer a line, as it is read, and says whether the line is right. A line that is no JSON
    object is unusable, but those after it are still read."""
    status, count = OK, 0
    with _opened(file) as lines:
        for count, line in enumerate(lines, 1):  # noqa: B007 - the last count shows an empty input
            status = max(status, _line(line, answer))
    if not count:
        raise UnreadableRecord("there is no record to read")
    return status


def _line(line: bytes, answer: Callable[[dict[str, Any]], int]) -> int:
    name: str | None = None
    try:
        fields = parse_object(line.decode())
        found = fields.get("hand")
        name = found if isinstance(found, str) else None
        return answer(fields)
    except UnicodeDecodeError:
        return _refuse(None, UnreadableRecord("a record is UTF-8 text"), None, UNUSABLE)
    except EngineError as error:
        return _refuse(name, error, None, UNUSABLE if isinstance(error, UnreadableRecord) else WRONG)


def _replay_record(record: Record) -> int:
    outcome = replay(record)
    if outcome.error is not None:
        return _refuse(record.hand, outcome.error, outcome.index, WRONG)
    hand = outcome.hand
    result = hand.result if hand else None
    if hand is None or result is None:
        raise LookupError("a valid record has a result")
    _print(
        {
            "hand": record.hand,
            "ok": True,
            "net": result.net,
            "tax": result.tax,
            "bonus": result.bonus,
            "carry_out": result.carry_out,
            "series_out": dict(result.series),
            "state": hand.digest(),
        }
    )
    return OK


def _refuse(name: str | None, error: EngineError, index: int | None, status: int) -> int:
    _print({"hand": name, "ok": False, "error": {"code": error.code, "index": index, "message": error.message}})
    return status


def _deck(arguments: argparse.Namespace) -> int:
    return _each_line(arguments.file, _deal_again)


def _deal_again(fields: dict[str, Any]) -> int:
    """One deal made again from its seeds; beside a record's keys there may be ``cards_roots``."""
    roots = fields.pop("cards_roots", None)
    record = record_from(fields)
    deal = rebuilt(record)
    check_deal(record)
    if roots is not None:
        check_roots(deal, roots)
    deck, *redeals = ("".join(cards) for cards in deal.packs)
    public = {"commit": deal.commit, "deck": deck, "redeals": redeals, "cards_roots": deal.roots}
    _print({"hand": record.hand, "ok": True, **public})
    return OK


def _opening(arguments: argparse.Namespace) -> int:
    return _each_line(arguments.file, _check_openings)


def _check_openings(fields: dict[str, Any]) -> int:
    """What the house answers to a seat, or about a hand: every opening in it must lead to its root."""
    document = opening_document(fields)
    for opening in document.openings:
        check_opening(opening, document.hand, document.roots)
    _print({"hand": document.hand, "ok": True, "cards": [opening["card"] for opening in document.openings]})
    return OK


def _best(arguments: argparse.Namespace) -> int:
    """A record a line: from where on is searched, what the seats have taken by then, and what they can force."""
    of = NET if arguments.net else TRICKS

    def answer(fields: dict[str, Any]) -> int:
        record = record_from(fields)
        outcome = replay(record)
        if outcome.error is not None:
            return _refuse(record.hand, outcome.error, outcome.index, WRONG)
        hand = last_cards(record, arguments.cards)
        if hand is None:
            _print({"hand": record.hand, "line": None})
            return OK
        found: dict[str, Any] = {"hand": record.hand, "line": len(hand.log), "of": of}
        for seats in arguments.seats or [(seat,) for seat in range(1, len(record.seats) + 1)]:
            best = best_play(hand, seats, of)
            found[" ".join(f"p{seat}" for seat in seats)] = {"worth": best.worth, "lines": best.lines}
        _print(found)
        return OK

    return _each_line(arguments.file, answer)


def _seats(text: str) -> list[tuple[int, ...]]:
    """Seats that play together, such as ``p1,p3``."""
    if not re.fullmatch(r"p[1-9](,p[1-9])*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of seats such as p1,p3")
    return [tuple(int(name[1:]) for name in text.split(","))]


def _phh(arguments: argparse.Namespace) -> int:
    """One hand is written as one file (.phh), several as one of tables (.phhs) numbered like their lines."""
    return _exported(arguments.file, phh_of, "[{}]\n")


def _pbn(arguments: argparse.Namespace) -> int:
    return _exported(arguments.file, pbn_of)


def _exported(file: str, written: Callable[[Record], str], heading: str = "") -> int:
    """Write each record of a file as a text; ``heading`` stands above each of several, with its number."""
    with _opened(file) as lines:
        records = list(lines)
    if not records:
        raise UnreadableRecord("there is no record to export")
    status = OK
    for number, line in enumerate(records, 1):
        above = heading.format(number) if len(records) > 1 else ""
        try:
            sys.stdout.write(f"{above}{written(parse_record(line.decode()))}\n")
        except (EngineError, UnicodeDecodeError) as error:
            print(f"python -m engine: line {number}: {_describe(error)}", file=sys.stderr)
            unusable = isinstance(error, UnreadableRecord | UnicodeDecodeError)
            status = max(status, UNUSABLE if unusable else WRONG)
    return status


def _fist(arguments: argparse.Namespace) -> int:
    _print({"vizi": arguments.vizi, "commitment": majzli_commitment(arguments.vizi, arguments.nonce)})
    return OK


def _nonce(text: str) -> bytes:
    """32 hexadecimal digits."""
    if not re.fullmatch(r"[0-9a-f]{32}", text):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a nonce of 32 hexadecimal digits")
    return bytes.fromhex(text)


def _play(arguments: argparse.Namespace) -> int:
    info = game_info(arguments.game)
    require_seats(info, arguments.seats)
    opt = info.resolve({**info.example, **dict(arguments.opt)}, arguments.seats, ())
    least = info.rules.parse(opt, arguments.seats).least_stack
    table = Sitting(arguments.game, opt, arguments.seats, arguments.stack or 200 * least, least)
    for record in play_evening(table, hands=arguments.hands, seed=arguments.seed):
        sys.stdout.write(format_record(record) + "\n")
    return OK


def _option(text: str) -> tuple[str, Any]:
    """``k=v``: v is JSON (a number, true, a list) or else a plain word."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not k=v")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _count(text: str) -> int:
    """A whole number from 1."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text[:30]!r} is not a whole number from 1")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    """Comma-separated cards; none for an empty text."""
    return tuple(text.split(",")) if text else ()


def _add_variations(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wild", type=_names, default=(), metavar="CARD,...", help="wild cards (Ferbli)")
    command.add_argument("--grigare", choices=("off", "general", "kis_nagy"), default="off", help="(Ferbli)")
    meaning = "what a wild card is in a grigáré: itself, or any needed card (Ferbli)"
    command.add_argument("--grigare-wild", choices=GRIGARE_WILD, default="natural", help=meaning)


def _games(arguments: argparse.Namespace) -> int:
    if arguments.verbs:
        for verb, meaning in game_info(arguments.verbs).verbs.items():
            print(f"{verb}\t{meaning}")
        return OK
    if arguments.options:
        for found in describe(game_info(arguments.options).rules):
            default = "none" if found.default is None else _ENCODER.encode(found.default)
            default = "must be set" if found.required else f"default {default}"
            print(f"{found.name}\t{found.values}\t{default}\t{found.meaning}")
        return OK
    for name in game_names():
        info = game_info(name)
        packs = " or ".join(pack.name for pack in info.packs.values()) or info.pack.name
        print(f"{name}\t{info.rules_id}\t{info.seats_text}\t{packs}")
    return OK


def _pages(arguments: argparse.Namespace) -> int:
    for path, text in pages().items():
        written = arguments.folder / path
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description="The rules engine by itself.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    rank = commands.add_parser("rank", help="rank hands; a higher key wins, equal keys tie")
    rank.add_argument("game")
    _add_variations(rank)
    rank.add_argument("cards", nargs="+", help="hands such as Kl8bXb7b")
    rank.set_defaults(run=_rank)
    worth = commands.add_parser("equity", help="what a hand is worth against unknown ones: every deal counted")
    worth.add_argument("game")
    worth.add_argument("--opponents", type=_count, required=True, metavar="N", help="1 to 6 unknown hands")
    worth.add_argument("--before", type=int, default=0, metavar="K", help="so many of them show first (0)")
    worth.add_argument("--dead", default="", metavar="CARDS", help="cards known to be elsewhere, such as KlXb")
    _add_variations(worth)
    worth.add_argument("cards", help="a hand such as Kl8bXb7b")
    worth.set_defaults(run=_equity)
    odds = commands.add_parser("odds", help="what changing cards is worth: every draw counted (Ramsli)")
    odds.add_argument("game", choices=("ramsli",))
    odds.add_argument("--trump", required=True, metavar="CARD", help="the card that lies there for trump, or is held")
    odds.add_argument("--draw", required=True, choices=tuple(map(str, DRAWS)), help="how many cards; up: eins auf")
    odds.add_argument("--dead", default="", metavar="CARDS", help="cards known to be elsewhere, such as KlXb")
    odds.add_argument("cards", help="a hand such as Kl8bXb7b; its weakest cards are laid away")
    odds.set_defaults(run=_odds)
    check = commands.add_parser("replay", help="replay records strictly")
    check.add_argument("file", help="a .jsonl file, or - for standard input")
    check.set_defaults(run=_replay)
    deck = commands.add_parser("deck", help="deal electronic hands again from their seeds and compare")
    deck.add_argument("file", help="records with their seeds, one a line, cards_roots beside them if known; or -")
    deck.set_defaults(run=_deck)
    opened = commands.add_parser("opening", help="check openings of cards against the roots published at the deal")
    opened.add_argument("file", help='{"hand", "cards_roots", "openings"}, one object a line; or -')
    opened.set_defaults(run=_opening)
    best = commands.add_parser("best", help="what seats can still force in the last tricks, all cards open")
    best.add_argument("file", help="a .jsonl file, or - for standard input")
    best.add_argument("--seats", type=_seats, default=[], help="seats that play together, such as p1,p3 (each alone)")
    best.add_argument("--cards", type=_count, default=5, help="from where no seat holds more cards (5)")
    best.add_argument("--net", action="store_true", help="money won instead of tricks")
    best.set_defaults(run=_best)
    export = commands.add_parser("phh", help="write records as poker hand histories (TOML)")
    export.add_argument("file", help="a .jsonl file, or - for standard input")
    export.set_defaults(run=_phh)
    notes = commands.add_parser("pbn", help="write deals of trick games in a notation after PBN")
    notes.add_argument("file", help="a .jsonl file, or - for standard input")
    notes.set_defaults(run=_pbn)
    fist = commands.add_parser("fist", help="commit to a vizi (majzli)")
    fist.add_argument("vizi", type=_count, help="in minor units")
    fist.add_argument("nonce", type=_nonce, help="16 random bytes in hexadecimal, such as `openssl rand -hex 16`")
    fist.set_defaults(run=_fist)
    play = commands.add_parser("play", help="play random legal hands and write their records")
    play.add_argument("game")
    play.add_argument("--seats", type=_count, default=4)
    play.add_argument("--hands", type=_count, default=10)
    play.add_argument("--seed", default="0")
    play.add_argument("--opt", type=_option, action="append", default=[], metavar="k=v")
    play.add_argument("--stack", type=_count, help="buy-in in minor units (200 times what a seat must bring)")
    play.set_defaults(run=_play)
    games = commands.add_parser("games", help="list the games")
    one = games.add_mutually_exclusive_group()
    one.add_argument("--verbs", metavar="GAME", help="the vocabulary of one game")
    one.add_argument("--options", metavar="GAME", help="what a table of one game may set")
    games.set_defaults(run=_games)
    written = commands.add_parser("pages", help="write the reference pages of the games, in Markdown")
    written.add_argument("folder", type=Path, help="docs/reference; folders below it are made")
    written.set_defaults(run=_pages)
    return parser


if __name__ == "__main__":
    sys.exit(main())
