"""The Gaussian process in plain Python, against what it must satisfy."""

import math

import pytest

from determined.search.surrogate import Observations, Process, Scales, cholesky, fitted

SCALES = Scales((0.4, 0.4), 1e-6)


def exact(points: list[tuple[float, ...]], values: list[float]) -> Observations:
    return Observations(points, values, [0.0] * len(points))


def test_factor_times_itself_is_the_matrix() -> None:
    gram = [[4.0], [2.0, 5.0], [1.0, 3.0, 6.0]]
    factor = cholesky(gram)
    for i, row in enumerate(gram):
        for j, expected in enumerate(row):
            assert sum(factor[i][k] * factor[j][k] for k in range(j + 1)) == pytest.approx(expected)


def test_process_passes_through_exact_observations_and_knows_nothing_far_from_them() -> None:
    process = Process(exact([(0.1, 0.1), (0.2, 0.1)], [1.0, -0.5]), [False, False], Scales((0.05, 0.05), 1e-6))
    mean, deviation = process.mean_and_deviation((0.1, 0.1))
    assert (mean, deviation) == (pytest.approx(1.0, abs=1e-3), pytest.approx(0, abs=1e-2))
    mean, deviation = process.mean_and_deviation((0.9, 0.9))
    assert (mean, deviation) == (pytest.approx(0, abs=1e-3), pytest.approx(1, abs=1e-3))


def test_observation_with_much_noise_moves_the_process_less() -> None:
    points, values = [(0.5, 0.5)], [2.0]
    trusted = Process(Observations(points, values, [0.0]), [False, False], SCALES)
    doubted = Process(Observations(points, values, [9.0]), [False, False], SCALES)
    assert doubted.mean((0.5, 0.5)) < trusted.mean((0.5, 0.5)) / 5


def test_category_is_equal_or_not_however_far_its_place_is() -> None:
    process = Process(exact([(0.0,)], [1.0]), [True], Scales((1.0,), 1e-6))
    assert process.mean((0.5,)) == process.mean((1.0,)) < process.mean((0.0,))


def test_axis_that_does_not_matter_gets_a_longer_scale() -> None:
    points = [(x / 6, y / 6) for x in range(7) for y in range(7) if (x + y) % 2]
    scales = fitted(exact(points, [math.sin(6 * x) for x, _ in points]), [False, False])
    assert scales.lengths[1] > scales.lengths[0]


def test_equal_points_with_different_values_are_no_trouble() -> None:
    process = Process(exact([(0.5,)] * 4, [1.0, 2.0, 1.0, 2.0]), [False], Scales((0.5,), 0.05))
    assert process.mean((0.5,)) == pytest.approx(1.5, abs=0.05)
