"""Searchers that the classic generation alone has: their algorithm is a series of operations.

`search/generations.py` goes by this folder, so that a training process need not load a searcher to know its generation.
"""
