"""A small decoder-only transformer."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = self.inputs(x).view(batch, length, 3, self.heads, width // self.heads)
        queries, keys, values = split.permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.output(found.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Block that is repeated and sharded by itself: while one block computes, the next one's weights arrive."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, heads), nn.Dropout(dropout))
        self.inner = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.GELU(),
            nn.Linear(4 * width, width),
            nn.Dropout(dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(x)
        return x + self.inner(x)


class LanguageModel(nn.Module):
    def __init__(self, letters: int, *, length: int, width: int, heads: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.length = length
        self.letters = nn.Embedding(letters, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, letters, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """For every place the logits of the letter that comes next."""
        x = self.letters(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


@torch.no_grad()
def continued(model: LanguageModel, tokens: Tensor, letters: int, draw: torch.Generator) -> Tensor:
    """Text that the model takes for likely after `tokens`."""
    for _ in range(letters):
        chances = model(tokens[None, -model.length :])[0, -1].float().softmax(dim=0)
        tokens = torch.cat([tokens, torch.multinomial(chances, 1, generator=draw)])
    return tokens
