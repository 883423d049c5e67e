"""Names for things nobody named: three words, drawn from a generator the caller owns."""

import random

_MOODS = """
    agile bold brave bright calm clever cosmic curious daring eager early fair fearless fleet fluent fresh gentle
    golden grand happy hardy honest humble jolly keen kind late lively lucid lucky mellow merry mighty modest neat
    nimble noble patient placid polite proud quick quiet rapid ready robust serene sharp shy silent sincere sleek
    smart snug solid steady still subtle sunny swift tender thrifty tidy tranquil trusty upbeat valiant vivid warm
    wild wise witty zesty
"""
_SHADES = """
    amber aqua ashen azure beige bronze burgundy cherry chestnut cobalt copper coral cream crimson cyan ebony emerald
    fawn flint fuchsia ginger granite green hazel indigo ivory jade khaki lavender lemon lilac lime magenta maroon
    mauve mint mustard navy ochre olive onyx opal orange orchid peach pearl pewter pink plum purple quartz red rose
    ruby rust saffron salmon sapphire scarlet sepia silver slate tan teal topaz turquoise umber vanilla violet white
"""
_CREATURES = """
    alpaca antelope badger beaver bison bobcat buffalo camel caribou cheetah condor cougar coyote crane cricket
    dolphin donkey eagle egret elk falcon ferret finch fox gazelle gecko gibbon giraffe goose grouse gull hare hawk
    heron hippo hornet ibex ibis iguana jackal jaguar kestrel kiwi koala lark lemur leopard lion llama lynx magpie
    marmot marten mole moose newt ocelot octopus orca osprey otter owl panda parrot pelican penguin pigeon puffin
    puma quail rabbit raven robin salmon seal shrew sparrow stork swan tapir tern tiger toad turtle walrus weasel
    whale wolf wombat wren yak zebra
"""


def random_name(rng: random.Random) -> str:
    """Return a random name, such as `calm-azure-heron`."""
    return "-".join(rng.choice(words.split()) for words in (_MOODS, _SHADES, _CREATURES))
