"""The language in which configs are declared; it knows none of Determined's sections.

A section is a class and a field is declared once (`section`), by a node that checks, merges, fills, loads and describes
its value (`node`, `lists`, `objects`, `quantity_nodes`). Nothing is imported here: training processes need one or two
of these modules and should not wait for a YAML parser.
"""
