"""Plain asyncio, written by hand: what the language itself costs."""

from __future__ import annotations

import asyncio

from timing import BRANCHES, ITEMS, TURNS, measured_async


async def role(**inputs: object) -> str:
    return "an answer"


async def critic(draft: str) -> dict[str, object]:
    return {"accepted": False, "note": "more"}


async def dialectic() -> dict[str, object]:
    exchange: list[dict[str, object]] = []
    case_against = None
    for number in range(1, TURNS + 1):
        case_for = await role(task_brief="x", opposing_argument=case_against)
        case_against = await role(task_brief="x", opposing_argument=case_for)
        exchange.append({"round": number, "thesis": case_for, "antithesis": case_against})
    return {"result": exchange[-1], "exchange": exchange}


async def fan_out(items: int = ITEMS) -> list[str]:
    return await asyncio.gather(*(role(item=item) for item in range(items)))


async def loop() -> str:
    draft, note = "", None
    for _ in range(TURNS):
        draft = await role(task_brief="x", note=note)
        view = await critic(draft)
        if view["accepted"]:
            break
        note = view["note"]
    return draft


async def nested() -> list[list[str]]:
    return await asyncio.gather(*(fan_out(BRANCHES) for _ in range(BRANCHES)))


if __name__ == "__main__":
    measured_async({"dialectic": dialectic, "fan-out": fan_out, "loop": loop, "nested": nested})
