"""The sections of the dashboard with their pages, for the header and for the tabs above lists."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NavigationPage:
    """A page to which the navigation has a link.

    Attributes:
        name: Name of its template.
        path: Its URL path.
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
        pages: Its pages; a click on the entry opens the first one.
    """

    label: str
    pages: tuple[NavigationPage, ...]

    def has(self, name: str) -> bool:
        """Return whether a page belongs to the section."""
        return any(page.name == name for page in self.pages)


SECTIONS = (
    Section(
        "Data",
        (
            NavigationPage("datasets", "/datasets", "Datasets"),
            NavigationPage("click_logs", "/click-logs", "Click logs"),
        ),
    ),
    Section(
        "Train",
        (
            NavigationPage("jobs", "/jobs", "Jobs"),
            NavigationPage("studies", "/studies", "Studies"),
            NavigationPage("experiments", "/experiments", "Experiments"),
            NavigationPage("schedules", "/schedules", "Schedules"),
        ),
    ),
    Section("Models", (NavigationPage("models", "/models", "Models"),)),
    Section(
        "Results",
        (
            NavigationPage("evaluations", "/evaluations", "Evaluations"),
            NavigationPage("comparisons", "/comparisons", "Comparisons"),
            NavigationPage("rankings", "/rankings", "Rankings"),
        ),
    ),
    Section(
        "Serve",
        (
            NavigationPage("aliases", "/aliases", "Aliases"),
            NavigationPage("interleavings", "/interleavings", "Interleavings"),
        ),
    ),
    Section(
        "Settings",
        (
            NavigationPage("settings", "/settings", "Service"),
            NavigationPage("keys", "/settings/keys", "API keys"),
            NavigationPage("audit", "/settings/audit", "Audit log"),
            NavigationPage("storage", "/settings/storage", "Storage"),
            NavigationPage("webhooks", "/settings/webhooks", "Webhooks"),
        ),
    ),
)
