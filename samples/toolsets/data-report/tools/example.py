"""Data to try the other tools on."""

import shutil
from pathlib import Path

from covalt_toolset import get_context, tool

ASSETS = Path(__file__).parent.parent / "assets"


@tool(name="Load Example Data", description="Put coffee.csv, the sales of three coffee shops, into the session")
def load_example() -> dict[str, str]:
    shutil.copyfile(ASSETS / "coffee.csv", get_context().workspace / "coffee.csv")
    return {"path": "/coffee.csv"}
