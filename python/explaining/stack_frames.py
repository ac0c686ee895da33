"""The source places that HLO text of newer XLA keeps in tables ahead of its computations."""

import re

_TABLE = re.compile(r"^(FileNames|FunctionNames|FileLocations|StackFrames)$")
_NAME = re.compile(r'^(\d+) "(.*)"$')
_ENTRY = re.compile(r"^(\d+) \{(.*)\}$")


def stack_frames(text: str) -> dict[str, dict[str, str]]:
    """By the `stack_frame_id` of an instruction's metadata: the attributes that older text has.

    These are `source_file`, `source_line` and `source_column` of the innermost frame.
    """
    names: dict[str, str] = {}
    locations: dict[str, dict[str, str]] = {}
    frames: dict[str, dict[str, str]] = {}
    table = ""
    for line in text.split("\n"):
        if header := _TABLE.match(line):
            table = header[1]
        elif table == "FileNames" and (named := _NAME.match(line)):
            names[named[1]] = named[2]
        elif entry := _ENTRY.match(line) if table else None:
            fields = dict(each.split("=", 1) for each in entry[2].split() if "=" in each)
            if table == "FileLocations":
                locations[entry[1]] = {
                    "source_file": names.get(fields.get("file_name_id", ""), ""),
                    "source_line": fields.get("line", ""),
                    "source_column": fields.get("column", ""),
                }
            elif table == "StackFrames":
                frames[entry[1]] = locations.get(fields.get("file_location_id", ""), {})
        elif line.endswith("{"):
            break  # the first computation
    return frames
