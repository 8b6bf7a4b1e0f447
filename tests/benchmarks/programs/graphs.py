"""langgraph: nodes that change a state, edges that choose the next; ``--durable`` keeps each step in SQLite."""

from __future__ import annotations

import operator
import os
import sys
import tempfile
from typing import Annotated, Any, TypedDict
from uuid import uuid4

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from timing import BRANCHES, ITEMS, TURNS, measured_async

LIMIT = {"recursion_limit": 10 * TURNS + 100}


class Debate(TypedDict, total=False):
    brief: str
    thesis: str
    antithesis: str
    round: int
    exchange: Annotated[list[Any], operator.add]


class Draft(TypedDict, total=False):
    brief: str
    draft: str
    note: str
    accepted: bool
    round: int


class Fan(TypedDict, total=False):
    items: list[int]
    results: Annotated[list[Any], operator.add]


async def thesis(state: Debate) -> Debate:
    return {"thesis": "an answer"}


async def antithesis(state: Debate) -> Debate:
    number = state["round"] + 1
    return {"antithesis": "an answer", "round": number, "exchange": [(number, state["thesis"], "an answer")]}


async def writer(state: Draft) -> Draft:
    return {"draft": "an answer"}


async def critic(state: Draft) -> Draft:
    return {"accepted": False, "note": "more", "round": state["round"] + 1}


async def worker(state: dict[str, Any]) -> Fan:
    return {"results": ["an answer"]}


def debate() -> StateGraph:
    graph = StateGraph(Debate)
    graph.add_node("thesis", thesis)
    graph.add_node("antithesis", antithesis)
    graph.add_edge(START, "thesis")
    graph.add_edge("thesis", "antithesis")
    graph.add_conditional_edges("antithesis", lambda state: "thesis" if state["round"] < TURNS else END)
    return graph


def refinement() -> StateGraph:
    graph = StateGraph(Draft)
    graph.add_node("writer", writer)
    graph.add_node("critic", critic)
    graph.add_edge(START, "writer")
    graph.add_edge("writer", "critic")
    graph.add_conditional_edges(
        "critic", lambda state: END if state["accepted"] or state["round"] >= TURNS else "writer"
    )
    return graph


def fan(node: Any = worker) -> StateGraph:
    graph = StateGraph(Fan)
    graph.add_node("worker", node)
    graph.add_conditional_edges(START, lambda state: [Send("worker", {"item": i}) for i in state["items"]], ["worker"])
    graph.add_edge("worker", END)
    return graph


def main(durable: bool) -> None:
    inner = fan().compile()

    async def branch(state: dict[str, Any]) -> Fan:
        done = await inner.ainvoke({"items": list(range(BRANCHES)), "results": []}, LIMIT)
        return {"results": [done["results"]]}

    graphs = {"dialectic": debate(), "fan-out": fan(), "loop": refinement(), "nested": fan(branch)}
    inputs: dict[str, dict[str, Any]] = {
        "dialectic": {"brief": "x", "round": 0, "exchange": []},
        "fan-out": {"items": list(range(ITEMS)), "results": []},
        "loop": {"brief": "x", "round": 0},
        "nested": {"items": list(range(BRANCHES)), "results": []},
    }
    compiled = {name: graph.compile() for name, graph in graphs.items()}

    async def kept(name: str) -> None:
        path = os.path.join(tempfile.mkdtemp(), "graph.db")  # noqa: PTH118
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            graph = graphs[name].compile(checkpointer=saver)
            await graph.ainvoke(inputs[name], {**LIMIT, "configurable": {"thread_id": uuid4().hex}}, durability="sync")

    if durable:
        measured_async({name: lambda name=name: kept(name) for name in graphs})
    else:
        measured_async({name: lambda name=name: compiled[name].ainvoke(inputs[name], LIMIT) for name in graphs})


if __name__ == "__main__":
    main("--durable" in sys.argv)
