"""The sections of the dashboard with their pages, for the header and for the tabs above lists."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """A page that the navigation links.

    Attributes:
        name: Name of its template.
        path: Its path.
        label: Display name.
    """

    name: str
    path: str
    label: str


@dataclass(frozen=True)
class Section:
    """An entry of the header.

    Attributes:
        label: Display name.
        pages: Its pages; the entry opens the first.
    """

    label: str
    pages: tuple[Listed, ...]

    def has(self, name: str) -> bool:
        """Return whether a page belongs to the section."""
        return any(page.name == name for page in self.pages)


SECTIONS = (
    Section(
        "Data",
        (Listed("datasets", "/datasets", "Datasets"), Listed("click_logs", "/click-logs", "Click logs")),
    ),
    Section(
        "Train",
        (
            Listed("jobs", "/jobs", "Jobs"),
            Listed("studies", "/studies", "Studies"),
            Listed("experiments", "/experiments", "Experiments"),
            Listed("schedules", "/schedules", "Schedules"),
        ),
    ),
    Section("Models", (Listed("models", "/models", "Models"),)),
    Section(
        "Results",
        (
            Listed("evaluations", "/evaluations", "Evaluations"),
            Listed("comparisons", "/comparisons", "Comparisons"),
            Listed("rankings", "/rankings", "Rankings"),
        ),
    ),
    Section(
        "Serve",
        (
            Listed("aliases", "/aliases", "Aliases"),
            Listed("interleavings", "/interleavings", "Interleavings"),
        ),
    ),
    Section(
        "Settings",
        (
            Listed("settings", "/settings", "Service"),
            Listed("keys", "/settings/keys", "API keys"),
            Listed("audit", "/settings/audit", "Audit log"),
            Listed("storage", "/settings/storage", "Storage"),
            Listed("webhooks", "/settings/webhooks", "Webhooks"),
        ),
    ),
)
