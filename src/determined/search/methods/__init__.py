"""Searchers, one module each, found by the registry (`search/registry.py`); `classic` has those of that generation.

To add one: a module named after it with one subclass of `SearcherConfig`, and a case of the contract suite
(`tests/contract/search_contract.py`). Config checks, preview, docs and the page take the rest from the class.
"""
