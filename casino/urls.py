"""Every address of the house."""

from django.urls import include, path, register_converter
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.permissions import AllowAny

from casino.api import (
    audit,
    books,
    cage,
    cards,
    counting,
    days,
    deals,
    games,
    hands,
    health,
    house,
    oversight,
    persons,
    reports,
    roster,
    seat,
    sessions,
    tables,
    trading,
    transfers,
)
from casino.staff.models import LOGIN


class LoginConverter:
    """A login as hiring takes it."""

    regex = LOGIN.removeprefix("^").removesuffix(r"\Z")

    def to_python(self, value: str) -> str:
        """As it is."""
        return value

    def to_url(self, value: str) -> str:
        """As it is."""
        return value


register_converter(LoginConverter, "login")

_open = {"authentication_classes": [], "permission_classes": [AllowAny]}

v1 = [
    path("schema", SpectacularAPIView.as_view(**_open), name="schema"),
    path("docs", SpectacularSwaggerView.as_view(url_name="schema", **_open), name="docs"),
    path("sign-in", sessions.SignIn.as_view()),
    path("sign-out", sessions.SignOut.as_view()),
    path("house", house.HouseDetail.as_view()),
    path("games", games.GameList.as_view()),
    path("games/<path:game>", games.GameDetail.as_view()),
    path("tables", oversight.TableList.as_view()),
    path("tables/<slug:table>", tables.TableDetail.as_view()),
    path("tables/<slug:table>/open", tables.OpenTable.as_view()),
    path("tables/<slug:table>/close", tables.CloseTable.as_view()),
    path("tables/<slug:table>/seats", tables.SitDown.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/chips", tables.AddChips.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/leave", tables.LeaveSeat.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/key", deals.IssueSeatKey.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/key/revoke", deals.RevokeSeatKey.as_view()),
    path("tables/<slug:table>/client-seeds", deals.DemandSeeds.as_view()),
    path("tables/<slug:table>/time-to-act", tables.SetTimeToAct.as_view()),
    path("tables/<slug:table>/seat-fee", tables.SetSeatFee.as_view()),
    path("tables/<slug:table>/deal", deals.PreparedDeal.as_view()),
    path("tables/<slug:table>/deal/seeds", deals.AddSeed.as_view()),
    path("tables/<slug:table>/deal/abandon", deals.AbandonDeal.as_view()),
    path("tables/<slug:table>/hands", hands.DealHand.as_view()),
    path("tables/<slug:table>/hand", hands.HandNow.as_view()),
    path("tables/<slug:table>/hand/legal-actions", hands.LegalNow.as_view()),
    path("tables/<slug:table>/hand/void", hands.VoidHand.as_view()),
    path("tables/<slug:table>/hand/ruling", hands.RuleOnHand.as_view()),
    path("tables/<slug:table>/hand/beside", hands.SayBeside.as_view()),
    path("tables/<slug:table>/hand/actions", hands.Act.as_view()),
    path("tables/<slug:table>/hand/cards", cards.EnterCards.as_view()),
    path("tables/<slug:table>/hand/corrections", cards.CorrectCards.as_view()),
    path("tables/<slug:table>/deck-check", cards.CheckDeck.as_view()),
    path("tables/<slug:table>/exceptions/<int:exception>/clear", cards.ClearException.as_view()),
    path("exceptions/cards", cards.CardExceptionList.as_view()),
    path("tables/<slug:table>/chips", transfers.TableChips.as_view()),
    path("tables/<slug:table>/buy-ins", trading.BuyInAtTable.as_view()),
    path("tables/<slug:table>/exchanges", trading.ExchangeAtTable.as_view()),
    path("tables/<slug:table>/tips", trading.Tip.as_view()),
    path("tables/<slug:table>/transfers", transfers.StartAtTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/send", transfers.SendFromTable.as_view()),
    path("tables/<slug:table>/transfers/<int:transfer>/receive", transfers.ReceiveAtTable.as_view()),
    path(
        "tables/<slug:table>/transfers/<int:transfer>/accept-with-variance",
        transfers.AcceptAtTable.as_view(),
    ),
    path("tables/<slug:table>/transfers/<int:transfer>/cancel", transfers.CancelAtTable.as_view()),
    path("players", oversight.PlayerList.as_view()),
    path("players/register", cage.RegisterPlayer.as_view()),
    path("players/<slug:player>/person", persons.PersonOfPlayer.as_view()),
    path("drawers", cage.DrawerList.as_view()),
    path("shifts", cage.ShiftList.as_view()),
    path("drawers/<slug:drawer>", cage.DrawerDetail.as_view()),
    path("drawers/<slug:drawer>/open", cage.OpenDrawer.as_view()),
    path("drawers/<slug:drawer>/buy-ins", cage.BuyIn.as_view()),
    path("drawers/<slug:drawer>/cash-outs", cage.CashOut.as_view()),
    path("drawers/<slug:drawer>/close", cage.CloseDrawer.as_view()),
    path("drawers/<slug:drawer>/exchanges", trading.ExchangeAtCage.as_view()),
    path("drawers/<slug:drawer>/foreign-chips", trading.TakeForeignChips.as_view()),
    path("drawers/<slug:drawer>/tronc-payouts", trading.PayTronc.as_view()),
    path("drawers/<slug:drawer>/transfers", transfers.StartAtDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/send", transfers.SendFromDrawer.as_view()),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/receive", transfers.ReceiveAtDrawer.as_view()),
    path(
        "drawers/<slug:drawer>/transfers/<int:transfer>/accept-with-variance",
        transfers.AcceptAtDrawer.as_view(),
    ),
    path("drawers/<slug:drawer>/transfers/<int:transfer>/cancel", transfers.CancelAtDrawer.as_view()),
    path("drawers/<slug:drawer>/soft-counts", counting.CountBoxes.as_view()),
    path("drawers/<slug:drawer>/soft-counts/<int:count>/confirm", counting.ConfirmCount.as_view()),
    path("drawers/<slug:drawer>/soft-counts/<int:count>/void", counting.VoidCount.as_view()),
    path("soft-counts", counting.SoftCountList.as_view()),
    path("transfers", transfers.TransferList.as_view()),
    path("hands", oversight.HandList.as_view()),
    path("hands/<slug:hand>", oversight.HandRecord.as_view()),
    path("hands/<slug:hand>/openings", deals.HandOpenings.as_view()),
    path("deals/<slug:hand>", deals.DealDetail.as_view()),
    path("seat/deal", seat.SeatDeal.as_view()),
    path("seat/seed", seat.SeatSeed.as_view()),
    path("seat/hand", seat.SeatHand.as_view()),
    path("seat/proofs/inclusion", seat.SeatInclusion.as_view()),
    path("audit/events", oversight.EventList.as_view()),
    path("audit/checkpoint", audit.Checkpoint.as_view()),
    path("audit/checkpoints", audit.Checkpoints.as_view()),
    path("audit/key", audit.LogKey.as_view()),
    path("audit/proofs/inclusion", audit.InclusionProof.as_view()),
    path("audit/proofs/consistency", audit.ConsistencyProof.as_view()),
    path("audit/export", audit.EventExport.as_view()),
    path("password", roster.ChangePassword.as_view()),
    path("staff", roster.People.as_view()),
    path("staff/on-duty", roster.OnDuty.as_view()),
    path("staff/<login:login>/roles", roster.ChangeRoles.as_view()),
    path("staff/<login:login>/deactivate", roster.Deactivate.as_view()),
    path("staff/<login:login>/activate", roster.Activate.as_view()),
    path("staff/<login:login>/unlock", roster.Unlock.as_view()),
    path("staff/<login:login>/password", roster.SetPassword.as_view()),
    path("terminals", roster.Terminals.as_view()),
    path("terminals/<slug:terminal>/revoke", roster.RevokeTerminal.as_view()),
    path("duty", trading.BookDuty.as_view()),
    path("days", days.Days.as_view()),
    path("days/<slug:day>", days.DayDetail.as_view()),
    path("days/<slug:day>/close", days.CloseDay.as_view()),
    path("ledger/accounts", books.AccountList.as_view()),
    path("ledger/accounts/<int:account>/balance", books.AccountBalance.as_view()),
    path("ledger/accounts/<int:account>/statement", books.AccountStatement.as_view()),
    path("ledger/export/<slug:layout>", books.Export.as_view()),
    path("reports/house", reports.HouseReport.as_view()),
    path("reports/players", reports.PlayerReport.as_view()),
    path("reports/hands", reports.HandMoney.as_view()),
    path("reports/verification", reports.Verification.as_view()),
]

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("api/v1/", include(v1)),
]

handler400 = "casino.api.http.problems.bad_request"
handler404 = "casino.api.http.problems.not_found"
handler500 = "casino.api.http.problems.server_error"
