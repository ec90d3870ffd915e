"""A page of an air in a browser, as a test uses it."""

import asyncio
import json
import re

from support.browser import Page
from support.programs import Program
from support.waiting import PATIENCE

SIZES = {"desktop": (1440, 900), "tablet": (820, 1180), "phone": (390, 844)}


class Window:
    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address

    async def show(self, view: str) -> None:
        """Shows a view: `map`, `device/NAME`. Comes back when the page has gone there."""
        await self.page.value(f"""new Promise((done) => {{
          const wanted = {json.dumps("#" + view)};
          if (location.hash === wanted) done();
          // The page's own listener is older.
          addEventListener("hashchange", done, {{once: true}});
          location.hash = wanted;
        }}).then(() => null)""")
        await self.page.until(f"document.querySelector('main').dataset.view === {json.dumps(view.split('/')[0])}")

    async def text(self, selector: str, part: str) -> None:
        """Waits until an element has a text."""
        await self.page.until(
            f"document.querySelector({json.dumps(selector)})?.textContent.includes({json.dumps(part)}) ?? false")

    async def devices(self) -> None:
        """Waits until the page is connected and shows devices."""
        await self.page.until("document.querySelector('#live')?.classList.contains('good') ?? false")
        await self.page.until("document.querySelectorAll('button.device').length > 0")


async def page_of(program: Program) -> str:
    """The address of the page that a program serves, also if it has printed other lines since."""

    async def found() -> str:
        while True:
            for line in program.output.all:
                if line is None:
                    raise AssertionError(f"{program.name} has ended: {program.output.all}, {program.problems.all}")
                if match := re.match(r"^page at (\S+)$", line):
                    return match[1]
            await asyncio.sleep(0.02)

    return await asyncio.wait_for(found(), PATIENCE)
