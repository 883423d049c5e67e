"""Text made on the spot: sentences of a tiny grammar, letter by letter."""

import random

import torch
from torch import Tensor
from torch.utils.data import Dataset

LETTERS = "\n abcdefghijklmnopqrstuvwxyz."
ARTICLES = ("a", "the", "every", "no")
ADJECTIVES = ("red", "small", "quiet", "old", "clever")
NOUNS = ("fox", "bird", "river", "teacher", "cloud", "train")
VERBS = ("sees", "follows", "forgets", "likes", "paints")


def sentence(draw: random.Random) -> str:
    words = [_thing(draw), draw.choice(VERBS), _thing(draw)]
    return " ".join(words) + ".\n"


def _thing(draw: random.Random) -> str:
    adjective = [draw.choice(ADJECTIVES)] if draw.random() < 0.5 else []
    return " ".join([draw.choice(ARTICLES), *adjective, draw.choice(NOUNS)])


def encode(text: str) -> Tensor:
    return torch.tensor([LETTERS.index(letter) for letter in text])


def decode(tokens: Tensor) -> str:
    return "".join(LETTERS[token] for token in tokens.tolist())


class Sentences(Dataset[tuple[Tensor, Tensor]]):
    """Pieces of `length` letters, and the same pieces one letter further on, which is what is to be foretold."""

    def __init__(self, pieces: int, length: int, seed: int) -> None:
        draw = random.Random(seed)
        text = ""
        while len(text) <= pieces * length:
            text += sentence(draw)
        self.tokens, self.pieces, self.length = encode(text), pieces, length

    def __len__(self) -> int:
        return self.pieces

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        first = index * self.length
        return self.tokens[first : first + self.length], self.tokens[first + 1 : first + self.length + 1]
