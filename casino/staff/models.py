"""Who works here, at which terminals, the tokens that join the two, and what each terminal was answered."""

from collections.abc import Sequence
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from knox.models import AbstractAuthToken

from casino.houses.models import ClockTimestamp, House, HouseRow

#: What a login looks like, and the code of a terminal or a house.
LOGIN = r"^[A-Za-z0-9][A-Za-z0-9._+@-]{2,63}\Z"
CODE = r"^[A-Za-z0-9_-]{1,32}\Z"


class Role(models.TextChoices):
    """What a person may do; the API's permissions name the roles an operation takes."""

    DEALER = "dealer"
    FLOOR = "floor"
    CASHIER = "cashier"
    CAGE_SUPERVISOR = "cage_supervisor"
    COUNT = "count"
    SURVEILLANCE = "surveillance"
    #: Whom the staff has chosen to see that tips are shared as agreed.
    DELEGATE = "delegate"
    COMPLIANCE = "compliance"
    MANAGER = "manager"
    AUDITOR = "auditor"
    ADMIN = "admin"


def full_name(house: House, login: str) -> str:
    """A login with its house, `DEMO-1/anna`: what Django's authentication asks for and failed attempts count by.
    Neither part can hold a slash."""
    return f"{house.code}/{login}"


class StaffManager(BaseUserManager["Staff"]):
    """Finds staff by house and login for Django's authentication."""

    def get_by_natural_key(self, username: str | None) -> "Staff":
        """The person with this full name. Raises Staff.DoesNotExist."""
        code, _, login = (username or "").partition("/")
        return self.select_related("house").get(house__code=code, login=login)


class Staff(AbstractBaseUser):
    """One person on the payroll. Logins are unique in a house, without regard to upper and lower case. Signing in needs
    the exact login; the terminal decides which house is meant."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="staff")
    login = models.CharField(max_length=64)
    name = models.CharField(max_length=120)
    roles: "ArrayField[Sequence[str], list[str]]" = ArrayField(models.CharField(max_length=16, choices=Role.choices))
    is_active = models.BooleanField(default=True)
    #: Whether a password that another person set has locked this login of a live house, which is not active then, until
    #: somebody approves its activation.
    locked_by_password = models.BooleanField(default=False, db_default=False)
    #: The reference under which this person is known as a player; empty for none (`casino/staff/as_player.py`).
    player_ref = models.CharField(max_length=32, blank=True, default="", db_default="")
    #: Login of the administrator who hired this person; empty for those of the founding.
    hired_by = models.CharField(max_length=64, blank=True, default="", db_default="")
    #: Who gave the last password that this person did not choose, then who had given the giver a password, and so on:
    #: logins, or what set the house up. They stay when the person chooses a new one: the giver can have been the one
    #: who chose.
    password_givers: "ArrayField[Sequence[str], list[str]]" = ArrayField(
        models.CharField(max_length=64), default=list, db_default=[]
    )
    #: Whether the office set the current password: it must be changed before anything else is done.
    must_change_password = models.BooleanField(default=False, db_default=False)
    #: The hash of the person's PIN (`casino/staff/pins.py`); null without one.
    pin = models.CharField(max_length=128, null=True)  # noqa: DJ001 - as the verifier has it: no hash
    #: The secret of the person's second factor, sealed (`casino/staff/second_factor.py`); null without one.
    totp_sealed = models.BinaryField(null=True)
    #: When the first code of that secret was given; null before, and then no sign-in asks for one.
    totp_since = models.DateTimeField(null=True)
    #: The newest time step of which a code was accepted: it and those before it are not accepted again.
    totp_step = models.BigIntegerField(default=0, db_default=0)
    #: How many passkeys the person has (`Passkey`): with one, a sign-in takes it, or a code where there is a secret.
    passkey_count = models.PositiveSmallIntegerField(default=0, db_default=0)
    #: Counts changes by the office, and new passwords of the person; signing in does not count.
    version = models.BigIntegerField(default=1)
    hired_at = models.DateTimeField(db_default=ClockTimestamp())

    objects: ClassVar[StaffManager] = StaffManager()
    USERNAME_FIELD = "login"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        verbose_name = "member of staff"
        verbose_name_plural = "staff"
        constraints = [
            models.CheckConstraint(
                condition=Q(roles__contained_by=[role.value for role in Role]), name="staff_known_roles"
            ),
            models.UniqueConstraint("house", Lower("login"), name="staff_login"),
            models.UniqueConstraint(
                fields=["house", "player_ref"], condition=~Q(player_ref=""), name="staff_one_player"
            ),
        ]

    def __str__(self) -> str:
        return self.login

    def get_username(self) -> str:
        """The full name: failed attempts are forgotten under the same name as they were counted."""
        return full_name(self.house, self.login)

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the password. The stored hash stays as it is, unlike Django's: only a write that an event
        records replaces it."""
        return check_password(raw_password, self.password)

    @property
    def has_second_factor(self) -> bool:
        """Whether a sign-in takes more than the password: a code or a passkey."""
        return self.totp_since is not None or self.passkey_count > 0

    @property
    def password_by(self) -> str:
        """Who gave the last password that this person did not choose; empty where that is not known."""
        return self.password_givers[0] if self.password_givers else ""

    def give_password(self, password: str, giver: "Staff | str") -> None:
        """Set a password that another person chose: a signed-in member of staff, or the founding of the house.
        Passwords of the founding need not be changed. The PIN ends."""
        by_staff = isinstance(giver, Staff)
        line = [giver.login, *giver.password_givers] if isinstance(giver, Staff) else [giver]
        self.set_password(password)
        self.pin = None
        self.password_givers, self.must_change_password = list(dict.fromkeys(line)), by_staff


class TerminalKind(models.TextChoices):
    """Where a terminal is."""

    TABLE = "table"
    CAGE = "cage"
    OFFICE = "office"


class Terminal(models.Model):
    """A device at a fixed location. A dealer's token works only at the table where its terminal is."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="terminals")
    code = models.CharField(max_length=32)
    kind = models.CharField(max_length=8, choices=TerminalKind.choices)
    #: Code of the table or drawer where it is; empty in the office.
    location = models.CharField(max_length=32, blank=True, default="")
    #: SHA-256 of the terminal's key. The key has 256 random bits, so a slow password hash would add nothing.
    key_digest = models.CharField(max_length=64)
    enrolled_at = models.DateTimeField(db_default=ClockTimestamp())
    revoked_at = models.DateTimeField(null=True)
    version = models.BigIntegerField(default=1)

    class Meta:
        verbose_name = "terminal"
        constraints = [
            models.UniqueConstraint(fields=["house", "code"], name="terminal_code"),
            models.CheckConstraint(
                condition=Q(kind=TerminalKind.OFFICE, location="") | (~Q(kind=TerminalKind.OFFICE) & ~Q(location="")),
                name="terminal_location",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class TerminalToken(HouseRow, AbstractAuthToken):
    """A signed-in person at a terminal; only the hash is kept, it expires, and deleting the row revokes it.

    Its key is the hash, over all houses: a request names its token and nothing else, and the token identifies the
    house.
    """

    terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="tokens")
    #: When it was used last, at most half a minute too early (`casino/staff/idleness.py`).
    last_seen_at = models.DateTimeField(db_default=ClockTimestamp())
    #: How many wrong PINs were given since the password or the right PIN was.
    pin_failures = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        verbose_name = "terminal token"

    def __str__(self) -> str:
        return f"{self.user_id}@{self.terminal_id}"


class Passkey(HouseRow):
    """A passkey of a person (`casino/staff/passkeys.py`): what the authenticator has made for this house, without its
    private key, which never leaves it. Deleting the row ends it."""

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="passkeys")
    #: The authenticator's name for it, in base64url.
    credential_id = models.CharField(max_length=1364)
    #: What its person calls it.
    name = models.CharField(max_length=60)
    #: In COSE's form (RFC 9052).
    public_key = models.BinaryField()
    #: How often it has signed, as it says itself; one that does not count says 0 every time.
    sign_count = models.BigIntegerField(default=0, db_default=0)
    registered_at = models.DateTimeField(db_default=ClockTimestamp())
    last_used_at = models.DateTimeField(null=True)
    #: When it was seen last that there may be a copy of it; null: never. It stays until the passkey goes.
    clone_seen_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "passkey"
        constraints = [
            models.UniqueConstraint(fields=["house", "credential_id"], name="passkey_credential"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.staff_id}"


class PasskeyChallenge(HouseRow):
    """Random bytes that a passkey is to sign, once and soon. Who uses it deletes the row."""

    #: SHA-256 of the challenge.
    digest = models.CharField(max_length=64, primary_key=True)
    #: Where it was asked for.
    terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="+")
    #: What it may be used for (`casino/staff/passkeys.py`).
    bound_to = models.CharField(max_length=300)
    expires_at = models.DateTimeField()

    class Meta:
        verbose_name = "challenge of a passkey"

    def __str__(self) -> str:
        return f"{self.digest[:8]} for {self.bound_to}"


class RotaEntry(HouseRow):
    """Who works where, in which role, from when until when, as it was planned. It never changes; it is withdrawn."""

    #: From 1 without gaps, by house.
    number = models.PositiveIntegerField()
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="rota")
    kind = models.CharField(max_length=8, choices=TerminalKind.choices)
    #: Code of the table or drawer; empty in the office.
    location = models.CharField(max_length=32, blank=True, default="")
    role = models.CharField(max_length=16, choices=Role.choices)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    entered_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    entered_at = models.DateTimeField(db_default=ClockTimestamp())
    withdrawn_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    withdrawn_at = models.DateTimeField(null=True)
    #: Why it was withdrawn.
    reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "entry of the rota"
        constraints = [
            models.CheckConstraint(condition=Q(ends_at__gt=models.F("starts_at")), name="rota_ends_after_it_starts"),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
                name="rota_withdrawn_by_somebody",
            ),
            models.UniqueConstraint(fields=["house", "number"], name="rota_number"),
        ]
        indexes = [models.Index(fields=["house", "staff", "ends_at"], name="rota_of_a_person")]

    def __str__(self) -> str:
        return f"entry {self.number} of the rota"

    @property
    def version(self) -> int:
        """1, and 2 once it is withdrawn."""
        return 1 if self.withdrawn_at is None else 2


class AnsweredRequest(HouseRow):
    """The answer given under an Idempotency-Key: a repeated request gets the same answer and changes nothing."""

    #: The terminal that was signed in: it is known to be there, and never deleted.
    terminal = models.ForeignKey(
        Terminal, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    key = models.CharField(max_length=128)
    request_hash = models.CharField(max_length=64)
    #: The JSON object that was answered.
    answer = models.TextField()
    status = models.PositiveSmallIntegerField()
    #: The version that the answer's ETag names.
    version = models.BigIntegerField()
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "answered request"
        constraints = [
            models.UniqueConstraint(fields=["house", "terminal", "key"], name="answered_request_key"),
        ]
        # Rows come in the order of their time: this finds the oldest ones, and costs a write nothing. Without
        # `autosummarize` every row since the last vacuum would be read each time that they are looked for.
        indexes = [BrinIndex(fields=["at"], name="answered_request_at", autosummarize=True)]

    def __str__(self) -> str:
        return f"{self.terminal_id}:{self.key}"
