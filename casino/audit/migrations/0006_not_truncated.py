"""No table that tells of a house is truncated. What may be emptied are sessions, the lock of sign-ins, and what Django
keeps for itself."""

from django.db import migrations

from casino.core.schema import never_truncated

TABLES = (
    "audit_chainhead",
    "cage_drawer",
    "cage_shift",
    "chips_chipset",
    "chips_imbalance",
    "custody_softcount",
    "custody_transfer",
    "hands_deal",
    "hands_hand",
    "house_house",
    "house_outboxmessage",
    "players_player",
    "staff_answeredrequest",
    "staff_staff",
    "staff_terminal",
    "tables_seating",
    "tables_sitting",
    "tables_table",
)


class Migration(migrations.Migration):
    """The guards that were missing, of all rooms."""

    dependencies = [
        ("audit", "0005_held"),
        ("cage", "0003_pieces"),
        ("chips", "0003_imbalance_kind"),
        ("custody", "0002_rights"),
        ("hands", "0008_names_in_full"),
        ("house", "0002_rights"),
        ("players", "0003_person"),
        ("staff", "0004_password_by"),
        ("tables", "0004_seat_keys_kept"),
    ]

    operations = [never_truncated(TABLES)]
