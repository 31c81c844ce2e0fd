"""Teach a drone to hover by evolution, with NumPy alone, in under two minutes on two cores; then fly and record it.

    python train_hover.py            writes hover.npz and hover.mcap
    volery view hover.mcap           opens the flight

Every row of the vector environment flies its own copy of the policy, each a little different (evolution strategies,
Salimans et al. 2017): the better half of each pair of opposite copies shows the way. The policy is linear.
"""

from __future__ import annotations

import argparse
import time

import gymnasium as gym
import numpy as np
from volery.envs import HoverEnv

STEPS = 250  # of 10 ms: an episode of the training


def act(policy: np.ndarray, observation: np.ndarray) -> np.ndarray:
    """One row of weights (4 x 19) per row of observations."""
    weights = policy.reshape(-1, 4, observation.shape[1] + 1)
    return np.tanh(np.einsum("nij,nj->ni", weights[:, :, :-1], observation) + weights[:, :, -1])


def fly(env: gym.vector.VectorEnv, policies: np.ndarray, seed: int) -> np.ndarray:
    """Reward of each policy over one episode; a crash ends it."""
    observation, _ = env.reset(seed=seed)
    is_alive = np.ones(len(policies), dtype=bool)
    total = np.zeros(len(policies))
    for _ in range(STEPS):
        observation, reward, terminated, _, _ = env.step(act(policies, observation))
        total += np.where(is_alive, reward, 0.0)
        is_alive &= ~terminated
        if not is_alive.any():
            break
    return total / STEPS


def train(seconds: float, pairs: int = 128, spread: float = 0.05, rate: float = 0.03, seed: int = 1) -> np.ndarray:
    """The mean policy when the time is up or it hovers well."""
    env = gym.make_vec("volery/Hover-v0", num_envs=2 * pairs, autoreset_mode="Disabled")
    random = np.random.default_rng(seed)
    initial_policy = np.zeros((4, gym.spaces.flatdim(env.single_observation_space) + 1))
    initial_policy[0, -1] = -0.25  # about the thrust that carries the weight
    mean = initial_policy.ravel()
    first_moment, second_moment = np.zeros_like(mean), np.zeros_like(mean)
    start = time.perf_counter()
    for generation in range(1, 1000):
        noise = random.standard_normal((pairs, mean.size))
        score = fly(env, np.concatenate([mean + spread * noise, mean - spread * noise]), 1000 * generation)
        ranks = np.argsort(np.argsort(score)) / (score.size - 1.0) - 0.5
        gradient = (ranks[:pairs] - ranks[pairs:]) @ noise / pairs
        first_moment = 0.9 * first_moment + 0.1 * gradient
        second_moment = 0.99 * second_moment + 0.01 * gradient * gradient
        mean = mean + rate * (first_moment / (1 - 0.9**generation)) / (np.sqrt(second_moment / (1 - 0.99**generation)) + 1e-8)
        elapsed = time.perf_counter() - start
        if generation % 10 == 0:
            print(f"generation {generation:3d}  {elapsed:5.1f} s  reward {score.mean():.3f}  best {score.max():.3f}")
        if elapsed > seconds or score.mean() > 0.9:
            break
    env.close()
    return mean


def record(policy: np.ndarray, path: str) -> float:
    """Fly an episode of ten seconds, logged; the distance from the target at the end [m]."""
    env = HoverEnv()  # what gym.make("volery/Hover-v0") makes, without wrappers
    env.record(path)
    observation, _ = env.reset(seed=7)
    ended = False
    while not ended:
        observation, _, terminated, truncated, _ = env.step(act(policy, observation[None, :])[0])
        ended = terminated or truncated
    env.close()
    return float(np.linalg.norm(observation[:3]))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=float, default=100.0)
    arguments.add_argument("--log", default="hover.mcap")
    options = arguments.parse_args()
    learned = train(options.seconds)
    np.savez("hover.npz", policy=learned)
    print(f"{record(learned, options.log):.3f} m from the target after 10 s; the flight is in {options.log}")
