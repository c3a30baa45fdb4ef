"""A user who uses the keyboard alone."""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

MAX_STOPS = 400
# On a busy machine, the user activation of a key press may expire before Chromium opens the dialog.
MAX_PRESSES = 5
DIALOG_MILLISECONDS = 15_000


@dataclass(frozen=True)
class Keyboard:
    """Reaches controls with the Tab key and operates them with the keys that a user would press.

    Attributes:
        page: The page that has the focus; never clicked.
    """

    page: Page

    def reach(self, control: Locator) -> None:
        """Press Tab until a control has the focus, at most once around the page."""
        control.wait_for()
        for _ in range(MAX_STOPS):
            if control.evaluate("node => node === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{MAX_STOPS} tab stops, and none is {control}")

    def press(self, control: Locator, key: str = "Enter") -> None:
        """Press a key on a control: Enter follows a link, Space ticks a box."""
        self.reach(control)
        self.page.keyboard.press(key)

    def choose(self, radio: Locator) -> None:
        """Choose a radio button: Tab reaches the checked one, and arrow keys change the choice."""
        group = radio.locator("xpath=ancestor::form").locator(f'[name="{radio.get_attribute("name")}"]')
        self.reach(group.and_(self.page.locator(":checked")))
        for _ in range(group.count()):
            if radio.is_checked():
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"the arrows do not choose {radio}")

    def write(self, field: Locator, text: str) -> None:
        """Replace the text of a field."""
        self.reach(field)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def select(self, choice: Locator, option: str) -> None:
        """Select the option with this prefix, as a list box does for typed text."""
        self.reach(choice)
        self.page.keyboard.type(option)
        chosen = choice.locator("option:checked").inner_text()
        assert chosen.startswith(option), f"typing {option!r} selected {chosen!r}"

    def choose_files(self, field: Locator, *paths: str) -> None:
        """Open the dialog of a file field and choose files; press the key again if no dialog opens."""
        for attempt in range(1, MAX_PRESSES + 1):
            self.reach(field)
            try:
                with self.page.expect_file_chooser(timeout=DIALOG_MILLISECONDS) as chooser:
                    self.page.keyboard.press("Space")
            except PlaywrightTimeout:
                if attempt == MAX_PRESSES:
                    raise
            else:
                chooser.value.set_files(list(paths))
                return
