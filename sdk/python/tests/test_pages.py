from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "sdk/python/README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_program_of_the_pages_passes_mypy_in_strict_mode(tmp_path: Path) -> None:
    programs: list[str] = []
    for page in PAGES:
        for number, program in enumerate(PROGRAM.findall(page.read_text())):
            name = f"{page.parent.name}_{page.stem}_{number}.py".replace("-", "_")
            (tmp_path / name).write_text(program)
            programs.append(name)
    assert len(programs) >= 9
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", *programs]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
