"""Every kind of event that a house records: the chains it belongs to, and the members of its `data` with their types.

A type is `integer` (a boolean is none), `string`, `boolean`, `any`, `[T]` (an array), `{T}` (an object with values of
the type T), or several of them with `|`, where `null` may stand too. A member with `?` may be missing.
"""

from collections.abc import Callable
from typing import Any

Fits = Callable[[Any], bool]

_DECLARED = {
    "approval.approved":
        "house: approval integer; passkey_sha256? string; second_factor? boolean; waits_for? [string]",
    "approval.expired": "house: approval integer",
    "approval.refused": "house: approval integer; passkey_sha256? string; second_factor? boolean",
    "approval.requested":
        "house: amount? integer; approval integer; body {any}; every_role? boolean; expires string; kind string; "
        "operation string; path string; request_hash string; roles [string]",
    "approval.withdrawn": "house: approval integer",
    "attempt.failed": "house table drawer: error string; method string; operation? string; path string",
    "attempt.refused":
        "house table drawer: asked? string; body? string; code string; expected? any; method string; operation? "
        "string; path string; player? string; status integer",
    "backup.drilled":
        "house: backup? string; backup_age_seconds? integer; cut_off_leaves integer; cut_off_seconds integer; "
        "event_count? integer; hand_count? integer; last_commit? string; ok boolean; problems [string]; "
        "recovered_to? string; report_sha256 string; tried string",
    "bank.confirmed": "house: amount integer; approval? integer; bag {any}",
    "bank.drawn": "house: amount integer; approval? integer; bag {any}",
    "bank.received": "house: amount integer; approval? integer; bag {any}",
    "bank.sent": "house: amount integer; approval? integer; bag {any}",
    "box.brought": "house: box {any}",
    "box.count_decided": "house: box {any}; count {any}",
    "box.counted": "house: box {any}; count {any}",
    "box.counts_differed": "house: box {any}; count {any}",
    "box.received": "house: box {any}",
    "box.swapped":
        "table: box {any}; counted? integer; pieces? {integer}; replaced? integer; table_version integer; "
        "taken? {any}; tray_count? {any}",
    "cage.bearer_buy_in":
        "drawer: amount integer; approval? integer; drawer_version integer; exchanged {integer}; linked? {any}; "
        "log_line? integer; threshold_reached? {any}; unknown_person? integer",
    "cage.bearer_cash_out":
        "drawer: amount integer; announcement? integer; approval? integer; drawer_version integer; exchanged "
        "{integer}; linked? {any}; log_line? integer; threshold_reached? {any}; unknown_person? integer",
    "cage.buy_in":
        "drawer: amount integer; approval? integer; drawer_version integer; exchanged {integer}; player string; "
        "player_chips integer; threshold_reached? {any}",
    "cage.announcement_withdrawn": "drawer: amount integer; announcement integer; drawer_version integer",
    "cage.cash_out":
        "drawer: amount integer; announcement? integer; approval? integer; attributed? integer; change? "
        "{integer}; drawer_version integer; exchanged {integer}; player string; player_chips integer; "
        "threshold_reached? {any}",
    "cage.cash_out_announced":
        "drawer: amount integer; announcement integer; drawer_version integer; minutes integer; player? string; "
        "until string",
    "cage.chips_redeemed": "drawer: drawer_version integer; redeemed {any}",
    "cage.corrected":
        "drawer: approval? integer; attributed? integer; corrects integer; drawer_version integer; mirrors {integer}; "
        "right? {any}; was string",
    "cage.chips_claimed":
        "drawer: amount integer; approval? integer; drawer_version integer; exchanged {integer}; found {any}; "
        "player string",
    "cage.chips_found": "drawer: amount integer; drawer_version integer; exchanged {integer}; found {any}",
    "cage.counterfeits_found":
        "drawer: approval? integer; counterfeits {any}; drawer_version integer; evidence string",
    "cage.deposit_drawn":
        "drawer: amount integer; deposit integer; drawer_version integer; exchanged {integer}; player string; "
        "player_chips integer",
    "cage.deposit_returned":
        "drawer: amount integer; approval? integer; deposit integer; drawer_version integer; player string; "
        "threshold_reached? {any}",
    "cage.deposit_taken":
        "drawer: amount integer; approval? integer; deposit integer; drawer_version integer; player string; "
        "threshold_reached? {any}",
    "cage.table_fee":
        "drawer: amount integer; drawer_version integer; minutes integer; player string; table string",
    "cage.exchange": "drawer: drawer_version integer; exchange {any}",
    "cage.foreign_chips": "drawer: drawer_version integer; foreign_chips {any}",
    "cage.noncash_buy_in":
        "drawer: amount integer; approval? integer; buy_in integer; drawer_version integer; exchanged {integer}; "
        "means string; player string; player_chips integer; reference string; threshold_reached? {any}",
    "cage.late_claim_paid":
        "drawer: amount integer; approval? integer; chip_set string; claim integer; drawer_version integer; "
        "exchanged {integer}; left integer; player string; threshold_reached? {any}",
    "cage.noncash_paid":
        "drawer: account string; amount integer; approval? integer; attributed? integer; drawer_version integer; "
        "exchanged {integer}; player string; player_chips integer; threshold_reached? {any}",
    "cage.payout_held":
        "drawer: amount integer; approval? integer; attributed? integer; drawer_version integer; exchanged {integer}; "
        "payout {any}; player string; player_chips integer",
    "cage.payout_released":
        "drawer: amount integer; approval? integer; drawer_version integer; payout {any}; player string; "
        "threshold_reached? {any}",
    "capital.paid_in": "house: amount integer; approval? integer; by string; note string; posting integer",
    "capital.paid_out":
        "house: amount integer; approval? integer; by string; cover {integer}; note string; posting integer",
    "cards.exception": "table: exception integer; found? {any}; found_hash? string; hand? string; kind string",
    "cards.exception_cleared":
        "table: exception integer; found? {any}; found_hash? string; hand? string; kind string; "
        "table_version integer",
    "catalogue.changed":
        "house: before? string; difference_count integer; differences? [string]; digest string; object_count integer",
    "chips.attributed":
        "house: amount integer; direction? string; for_day? string; place string; player string; player_chips "
        "integer; threshold_reached? {any}",
    "chips.counted": "house: count {any}; move {any}",
    "chips.counts_differed": "house: count {any}; move {any}",
    "chips.delivered": "house: count? {any}; move {any}",
    "chips.destroyed": "house: count? {any}; move {any}",
    "chips.introduced": "house: chip_set string; denominations {string}",
    "chips.lapsed": "house: amount integer; approval? integer; chip_set string; pieces {integer}",
    "chips.noted": "house: move {any}; pieces {integer}",
    "chips.put_in_use": "house: approval? integer; chip_set string; redeem_until string; withdrawn string",
    "chips.retired": "house: chip_set string",
    "chips.set_aside": "house: count? {any}; move {any}",
    "chips.unattributed":
        "house: amount integer; direction? string; for_day? string; place string; player string; player_chips "
        "integer; threshold_reached? {any}",
    "chips.withdrawn_set_aside": "house: count? {any}; move {any}",
    "clearing.settled": "house: amount integer; buy_ins [integer]; statement string",
    "complaint.answered": "house: complaint integer; text_sha256 string",
    "complaint.closed": "house: complaint integer; legal_hold integer; outcome string; text_sha256 string",
    "complaint.escalated": "house: adr string; complaint integer; text_sha256 string",
    "complaint.opened":
        "house: arrived string; complaint integer; complaint_kind string; due string; evidence [{any}]; "
        "legal_hold integer; player? string; text_sha256 string",
    "credit.cancelled":
        "table drawer: drawer_version? integer; mirrors? {integer}; table_version? integer; transfer {any}",
    "credit.count_differed": "table drawer: count {any}; transfer {any}",
    "credit.declined": "table drawer: drawer_version? integer; table_version? integer; transfer {any}",
    "credit.received": "table drawer: drawer_version? integer; table_version? integer; transfer {any}",
    "credit.requested": "table drawer: drawer_version? integer; table_version? integer; transfer {any}",
    "credit.sent": "table drawer: approval? integer; drawer_version? integer; table_version? integer; transfer {any}",
    "data.read": "house: operation? string; parameters? [[string]]; subject string",
    "day.closed":
        "house: approval? integer; carried {any}; day string; package string; snapshot? string; totals {any}",
    "day.opened": "house: day string",
    "day.package_signed": "house: day string; sha256 string",
    "day.packaged":
        "house: checkpoint {any}|null; day string; sha256 string; size integer",
    "deal.abandoned": "table: commitment string; hand string; table_version integer; unrevealed? [integer]",
    "deal.commitments_closed": "table: hand string; table_version integer",
    "deal.committed":
        "table: announced? [string]; commitment string; hand string; number integer; seats [{any}]; table_version "
        "integer",
    "deal.seed_committed":
        "table: closed? boolean; hand string; player string; seat integer; seed_commitment string; table_version "
        "integer",
    "deal.seed_taken":
        "table: closed? boolean; given_by string; hand string; player string; seat integer; seed string; "
        "table_version integer",
    "dealer.left": "table: dealer string; ended_with string; table_version integer; turn integer",
    "dealer.took_over":
        "table: dealer string; ended_with? string; relieved? string; table_version integer; turn integer",
    "document.printed":
        "house: about {string}; as_of? {any}; copy integer; document string; form string; language string; printout "
        "integer; sums? {integer}",
    "drawer.closed": "drawer: drawer_version integer; handover? integer; reconciliation {any}",
    "drawer.counted": "drawer: agrees boolean; count {any}; drawer_version integer; shift integer",
    "drawer.opened":
        "drawer: drawer_version integer; float_cash integer; float_chips integer; float_pieces {integer}; "
        "handover integer; shift integer; taken_from? {any}",
    "drawer.recounted": "drawer: agrees boolean; count {any}; drawer_version integer; shift integer",
    "drawer.reopened":
        "drawer: approval? integer; drawer_version integer; float_cash integer; float_chips integer; float_pieces "
        "{integer}; reopens integer; shift integer",
    "drawer.replenished": "drawer: drawer_version integer; handover {any}",
    "drawer.retired": "drawer: drawer_version integer; terminals? [string]",
    "drawer.set_up": "drawer: approval? integer",
    "drawer.skimmed": "drawer: drawer_version integer; handover {any}",
    "drawer.template_set":
        "drawer: approval? integer; cash integer; ceiling? integer; chip_set string; least {integer}; "
        "pieces {integer}; template integer; valid_from string",
    "drawer.x_read": "drawer: shift integer; x_reading integer",
    "euro_rate.set":
        "house: approval? integer; millionths integer; number integer; source string; valid_from string",
    "exclusion.lift_asked": "house: exclusion integer; player? string",
    "exclusion.lifted": "house: approval? integer; cause string; exclusion integer; player? string",
    "exclusion.marked": "house: exclusion integer; marks [string]; player string",
    "exclusion.match_cleared": "house: approval? integer; exclusion integer; player string",
    "exclusion.matched": "house: exclusion integer; player string",
    "exclusion.set":
        "house: asked_by string; exclusion integer; exclusion_kind string; in_person boolean; marks? [string]; "
        "matched? [string]; note_sha256? string; player? string; scope string; until? string",
    "fill.cancelled":
        "table drawer: drawer_version? integer; mirrors? {integer}; table_version? integer; transfer {any}",
    "fill.count_differed": "table drawer: count {any}; transfer {any}",
    "fill.declined": "table drawer: drawer_version? integer; table_version? integer; transfer {any}",
    "fill.received": "table drawer: drawer_version? integer; table_version? integer; transfer {any}",
    "fill.requested": "table drawer: drawer_version? integer; table_version? integer; transfer {any}",
    "fill.sent": "table drawer: approval? integer; drawer_version? integer; table_version? integer; transfer {any}",
    "foreign.redeemed": "house: amount integer; approval? integer; issuer string; note string; paid integer",
    "hand.acted":
        "table: automatic? string; cards_roots? [string]; digest? string; entered? [{any}]; first_line integer; hand "
        "string; handle? integer; line_hashes? {string}; line_salts? {string}; lines [string]; log? [string]; "
        "next_button? integer; record_hash? string; result? {any}; table_version integer",
    "hand.bonus_confirmed": "table: approval? integer; bonus integer; hand string; table_version integer",
    "hand.bonus_held": "table: bonus integer; hand string; table_version integer",
    "hand.bonus_refused": "table: bonus integer; frozen integer; hand string; table_version integer",
    "hand.cards_entered": "table: entries [{any}]; hand string; table_version integer",
    "hand.dealt":
        "table: button integer; card_verbs? {[string]}; cards_roots? [string]; carry integer; client_seeds? {string}; "
        "commitment? string; digest? string; fees? {any}; first_line integer; game string; hand string; handle? "
        "integer; line_hashes? {string}; line_salts? {string}; lines [string]; log? [string]; mode string; "
        "next_button? integer; number integer; options {any}; record_hash? string; result? {any}; rules? string; "
        "seats [{any}]; series {any}; series_begins? boolean; stacks [integer]; table string; table_version integer",
    "hand.disputed": "table: frozen integer; hand string; table_version integer",
    "hand.dispute_withdrawn":
        "table: after string; hand string; mirror integer|null; raised_by string; returned integer; table_version "
        "integer",
    "hand.dispute_raised": "table: before string; frozen integer; hand string; table_version integer",
    "hand.entry_corrected": "table: actor string; hand string; hash string; index integer; table_version integer",
    "hand.line_corrected":
        "table: after string; before string; hand string; line integer; line_hash? string; table_version integer",
    "hand.ruled":
        "table: approval? integer; awards {integer}; hand string; pot integer; readings {any}; settlement integer; "
        "table_version integer; tax integer",
    "hand.ruled_later":
        "table: approval? integer; collected [{any}]; fee_refunded? {integer}; hand string; made_good {integer}; "
        "readings {any}; ruling integer; settlement integer|null; table_version integer; tax_refunded {integer}",
    "hand.settled": "table: digest string; hand string; result {any}; settlement integer|null; table_version integer",
    "hand.settlement_failed": "table: hand string; problem string",
    "hand.voided":
        "table: acted boolean; approval? integer; cards_shown boolean; cause string; disputed? boolean; hand string; "
        "log_complete boolean; mirrors {integer}; pot integer; table_version integer",
    "handover.offered": "drawer: drawer_version integer; handover {any}",
    "handover.signed": "drawer: drawer_version integer; handover {any}",
    "handover.withdrawn": "drawer: drawer_version integer; handover {any}",
    "holds.expired": "house: hold_count integer; holds? [string]",
    "house.duty":
        "house: amount integer; approval? integer; due_on? string; for_month? string; posting integer",
    "house.closed": "house: approval? integer; remaining? [string]",
    "house.duty_lowered": "house: amount integer; approval? integer; entry integer; posting integer",
    "house.duty_rates_set":
        "house: approval? integer; bands [{any}]; base string; deductions [{any}]; number integer; tax_code string; "
        "valid_from string",
    "house.duty_paid":
        "house: amount integer; approval? integer; for_month? string; posting integer; return_number string",
    "house.founded":
        "house: currency string; currency_exponent? integer; name string; sandbox? boolean; seal_key string; "
        "second_factor_required? boolean; time_zone? string",
    "house.go_live_signed": "house: digest string; role string; signature integer; void? [string]",
    "house.rules_set": "house: approval? integer; number integer; texts {string}",
    "house.identity_changed": "house: approval? integer; identity {any}; number integer",
    "house.rehearsal_cancelled": "house: rehearsal integer",
    "house.rehearsal_failed": "house: failure string; rehearsal integer",
    "house.rehearsal_requested": "house: rehearsal integer",
    "house.rehearsed":
        "house: configuration string; items [{any}]; passed boolean; rehearsal integer; sandbox string; "
        "verified {integer}",
    "house.resumed": "house: approval? integer",
    "house.sandbox_reset": "house: remaining? [string]; successor string",
    "house.seal_key_rotated": "house: data_key integer; new_key string; old_key string; wrapped_count integer",
    "house.suspended": "house: approval? integer",
    "house.went_live":
        "house: digest string; rehearsal integer; role string; signature integer; signed {any}; signers {string}",
    "imbalance.cleared": "house: before {any}; check string",
    "imbalance.found": "house: after {any}; before? {any}; check string",
    "legal_hold.lifted": "house: approval? integer; legal_hold integer",
    "legal_hold.set":
        "house: approval? integer; first_day? string; hand? string; last_day? string; legal_hold integer; "
        "player? string; scope string",
    "limits.changed": "house: approval? integer; number integer; points {integer}; valid_from string",
    "log_line.entered":
        "house: amount integer; capacity string; day string; direction string; line integer; line_kind string; "
        "note_sha256? string; place string; player? string; transaction? integer; unknown_person? integer",
    "log_line.withdrawn": "house: line integer",
    "log.archived":
        "log: epoch integer; first integer; first_day string; last_day string; number integer; sha256 string; "
        "size integer",
    "log.brought_back": "log: events integer; number integer",
    "log.epoch_opened":
        "log: epoch integer; note? string; old_epoch? integer; old_root? string; old_size? integer; refused? string; "
        "restored_epoch integer; restored_root? string; restored_size integer",
    "log.key_rotated": "log: epoch integer; new_key string; note string; old_key string; size integer",
    "log.put_away": "log: events integer; number integer",
    "minor.cleared": "house: approval? integer; minor integer; player string",
    "minor.recorded":
        "house: exclusion integer; least_age integer; minor integer; note_sha256 string; player string",
    "minor.settled":
        "house: approval? integer; borne integer; deposit integer; ended [integer]; held integer; kept integer; "
        "minor integer; payout? {any}; player string; refund integer; remit_by? string; stakes integer",
    "payout.paid_by_bank":
        "house: amount integer; approval? integer; payout {any}; player string; threshold_reached? {any}",
    "player.admitted": "house: age_band string; day string; document string; player string",
    "player.data_copied": "house: file_sha256 string; format string; player string; size integer",
    "player.erased":
        "house: answer_count integer; approval? integer; left [string]; player string; records [string]",
    "player.forgotten":
        "house: last_activity string; player string; retention_days integer; retention_run? integer; "
        "sealed_sha256 string; version integer",
    "player.interaction_logged": "house: interaction string; note_sha256? string; number integer; player string",
    "player.reality_check_due":
        "house: minutes integer; number integer; player string; seat integer; table string",
    "player.limit_set":
        "house: limit string; most? integer; number integer; player string; span string; starts_at string",
    "player.person_recorded": "house: fields [string]; player string; sealed_sha256 string; version integer",
    "player.registered": "house: player string",
    "report.cancelled": "house: run integer",
    "report.delivered": "house: attempt integer; delivery integer; destination string; files [{any}]",
    "report.delivery_failed": "house: attempt integer; delivery integer; destination string; problem string",
    "report.failed": "house: failure string; run integer",
    "report.made": "house: as_of {any}; equalities [{any}]; files [{any}]; row_count integer; run integer",
    "report.requested":
        "house: behalf? string; copy integer; filters {string}; formats [string]; group_by string; repeats? integer; "
        "report string; report_version integer; run integer; sensitivity string; style {string}",
    "report.schedule_fired":
        "house: deliveries {string}; number integer; period string; run? integer; schedule string",
    "report.schedule_set":
        "house: approval? integer; cadence string; destinations [string]; filters {string}; formats [string]; number "
        "integer; schedule string; time_of_day string; valid_from string; what string; withdrawn [integer]",
    "report.schedule_stopped":
        "house: number integer; problem string; schedule string; withdrawn [integer]",
    "retention.ran":
        "house: by string; deleted {{any}}; held_count integer; items [{any}]; left [string]; run integer",
    "return.filed":
        "house: approval? integer; filed_on string; filing integer; return_number string; transaction integer",
    "rota.entered":
        "house: ends string; entry integer; kind string; location string; login string; role string; starts string",
    "rota.withdrawn": "house: entry integer",
    "sealed.entry": "house: entry integer; sealed_sha256 string",
    "seat.device_named": "table: device string; player string; seat integer",
    "seat.key_issued": "table: key_sha256 string; player string; replaced boolean; seat integer; table_version integer",
    "seat.key_revoked": "table: player string; seat integer; table_version integer",
    "snapshot.taken": "house: snapshot string",
    "staff.activated": "house: after boolean; approval? integer; before boolean; login string",
    "staff.deactivated": "house: after boolean; before boolean; ended_session_count integer; login string",
    "staff.hired": "house: active? boolean; login string; password_sha256 string; roles [string]",
    "staff.locked_out": "house:",
    "staff.password_changed": "house: ended_session_count integer; kept_token_sha256 string; password_sha256 string",
    "staff.password_set": "house: ended_session_count integer; locked? boolean; login string; password_sha256 string",
    "staff.passkey_clone_seen": "house: given_count integer; passkey_sha256 string; stored_count integer",
    "staff.passkey_registered":
        "house: ended_session_count integer; kept_token_sha256 string; passkey_sha256 string; public_key_sha256 string",
    "staff.passkey_removed": "house: ended_session_count integer; kept_token_sha256 string; passkey_sha256 string",
    "staff.pin_set": "house: pin_sha256? string",
    "staff.reauthenticated":
        "house: by_pin? boolean; new_token_sha256 string; passkey_sha256? string; token_sha256 string",
    "staff.player_linked": "house: after? string; approval? integer; before? string; login string",
    "staff.roles_changed": "house: after [string]; approval? integer; before [string]; login string",
    "staff.second_factor_begun": "house: sealed_sha256 string",
    "staff.second_factor_confirmed":
        "house: ended_session_count integer; kept_token_sha256 string; sealed_sha256 string",
    "staff.second_factor_reset": "house: approval? integer; ended_session_count integer; login string",
    "staff.sessions_ended": "house: ended_session_count integer; kept_token_sha256 string; token_sha256? string",
    "staff.sign_in_refused": "house: code string",
    "staff.signed_in": "house: expires string; passkey_sha256? string; token_sha256 string",
    "staff.signed_out": "house: token_sha256 string",
    "staff.unlocked": "house: failure_count integer; login string",
    "table.buy_in":
        "table: amount integer; approval? integer; exchanged {integer}; player string; seat integer; "
        "table_version integer; threshold_reached? {any}; ticket? integer",
    "table.chips_added": "table: amount integer; brought? integer; player string; seat integer; table_version integer",
    "table.client_seeds_changed": "table: after string; before string; table_version integer",
    "table.closed":
        "table: approval? integer; broken_off? {integer}; carryover_on_close string; closer? integer; held? {integer}; "
        "left_with {integer}; shares {integer}; table_version integer",
    "table.counterfeits_found":
        "table: approval? integer; counterfeits {any}; evidence string; table_version integer",
    "table.deck_checked": "table: cards integer; pack string; table_version integer",
    "table.exchange": "table: amount integer; change {integer}; given {integer}; table_version integer",
    "table.left": "table: amount integer; player string; seat integer; table_version integer",
    "table.moved_in":
        "table: amount integer; from_table string; player string; seat integer; table_version integer; ticket? "
        "integer",
    "table.moved_out":
        "table: amount integer; player string; seat integer; table_version integer; to_seat integer; to_table string",
    "table.opened": "table: opener? integer; resumed? {integer}; session integer; table_version integer",
    "table.retired": "table: table_version integer; terminals? [string]",
    "table.sat_down":
        "table: amount integer; brought? integer; player string; seat integer; table_version integer; ticket? integer",
    "table.seat_changed": "table: player string; seat integer; table_version integer; to_seat integer",
    "table.seat_fee_changed":
        "table: after integer; after_per string; approval? integer; before integer; before_per string; "
        "table_version integer",
    "table.set_up":
        "table: approval? integer; area? string; carryover_on_close string; client_seeds? string; game string; "
        "max_stack integer; min_stack integer; options {any}; seat_fee? integer; seat_fee_per? string; seats integer; "
        "time_to_act? integer; varying? {[any]}",
    "table.template_set":
        "table: approval? integer; chip_set string; pieces {integer}; template integer; valid_from string",
    "table.terms_changed":
        "table: after {any}; approval? integer; before {any}; table_version integer; varying? {[any]}",
    "table.device_play_changed": "table: after boolean; before boolean; table_version integer",
    "table.time_to_act_changed": "table: after? integer; before? integer; table_version integer",
    "table.tip": "table: amount integer; chips {integer}; player string; seat integer; table_version integer",
    "table.tray_stocked": "table: amount integer; approval? integer; chips {integer}",
    "terminal.enrolled": "house: approval? integer; key_sha256 string; kind string; location string; terminal string",
    "terminal.revoked": "house: ended_session_count integer; terminal string",
    "tray.confirmed": "table: pieces {integer}; table_version integer; tray_count {any}",
    "tray.counted": "table: pieces {integer}; replaced? integer; table_version integer; tray_count {any}",
    "tray.counts_differed": "table: pieces {integer}; table_version integer; tray_count {any}",
    "tronc.share_paid": "drawer: drawer_version integer; share {any}",
    "tronc.shared": "house: pool {any}",
    "unclaimed.kept": "house: amount integer; approval? integer; found {any}; waited_days integer",
    "unclaimed.remitted": "house: amount integer; approval? integer; found {any}; waited_days integer",
    "unknown_person.identified": "house: player string; unknown_person integer",
    "unknown_person.opened": "house: description_sha256 string; unknown_person integer",
    "vault.count_decided": "house: vault_count {any}",
    "variance.offset":
        "house: amount integer; approval? integer; cash_over boolean; count integer; drawer? string; number integer; "
        "posting integer",
    "vault.count_signed_off": "house: vault_count {any}",
    "vault.counterfeits_found": "house: approval? integer; counterfeits {any}; evidence string",
    "vault.counted": "house: count {any}; vault_count {any}",
    "vault.counts_differed": "house: count {any}; vault_count {any}",
    "vault.opened": "house: capital integer; chips {integer}",
    "waiting.added": "house: game string; player string; table? string; ticket integer",
    "waiting.called": "house: table string; ticket integer",
    "waiting.no_show": "house: ticket integer",
    "waiting.removed": "house: ticket integer",
    "webhook.ended": "house: problem? string; webhook integer",
    "webhook.replayed": "house: after integer; chain string; position integer; webhook integer",
    "webhook.subscribed": "house: approval? integer; chains [string]; destination string; webhook integer",
    "winnings.remitted":
        "house: amount integer; approval? integer; beneficiary string; minors [{any}]; note string; payee string; "
        "remittance integer",
}  # fmt: skip
#: What an event has that names an approval, where it took several people.
_ALSO = "; also_approved? [string]"
_DECLARED |= {name: members + _ALSO for name, members in _DECLARED.items() if " approval? integer" in members}

_PLAIN: dict[str, Fits] = {
    "integer": lambda value: type(value) is int,
    "string": lambda value: type(value) is str,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "any": lambda value: True,
}


def _check(declared: str) -> Fits:
    """The check of a type."""
    if "|" in declared:
        checks = [_check(one) for one in declared.split("|")]
        return lambda value: any(fits(value) for fits in checks)
    if declared in _PLAIN:
        return _PLAIN[declared]
    item = _check(declared[1:-1])
    if declared[0] == "[":
        return lambda value: type(value) is list and all(map(item, value))
    return lambda value: type(value) is dict and all(map(item, value.values()))


class _Kind:
    """One kind of event, ready to be compared."""

    def __init__(self, declared: str) -> None:
        chains, _, members = declared.partition(":")
        self.chains = frozenset(chains.split())
        self.required, self.types, self.checks = set[str](), dict[str, str](), dict[str, Fits]()
        for member in filter(None, members.split(";")):
            name, declared_type = member.split()
            if not name.endswith("?"):
                self.required.add(name)
            name = name.rstrip("?")
            self.types[name], self.checks[name] = declared_type, _check(declared_type)


_KINDS = {name: _Kind(declared) for name, declared in _DECLARED.items()}
KINDS = frozenset(_KINDS)


def what_is_wrong(kind: str, chain: str, data: dict[str, Any]) -> list[tuple[str, str]]:
    """Codes and words of what an event of a known kind has in common with no event that a house records: the chain, and
    members of `data` that are unknown, missing, or of another type."""
    known, found = _KINDS[kind], list[tuple[str, str]]()
    if chain.partition("/")[0] not in known.chains:
        found.append(("kind_in_wrong_chain", f"{kind} is recorded in chains of {' or '.join(sorted(known.chains))}"))
    wrong = [f"{name!r} is unknown" for name in data.keys() - known.types.keys()]
    wrong += [f"{name!r} is missing" for name in known.required - data.keys()]
    wrong += [
        f"{name} is no {known.types[name]}: {value!r}"
        for name, value in data.items()
        if name in known.checks and not known.checks[name](value)
    ]
    return [*found, *(("wrong_data", one) for one in sorted(wrong))]
