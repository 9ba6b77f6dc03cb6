"""Share one engine between threads, and send it with its keys and ciphertexts to processes."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import torch

from fhelium import Ciphertext, Engine, errors


def square_and_rotate(engine: Engine, x: Ciphertext) -> Ciphertext:
    """Compute x^2 and move it by one slot, with the keys that the engine holds."""
    product = engine.relinearize(engine.square(x))
    return engine.rotate_by_step(engine.rescale_to_next_depth(product), 1)


# What a worker process keeps: it gets the engine once, and then only ciphertexts.
worker_engine: Engine | None = None


def start_worker(engine: Engine) -> None:
    global worker_engine
    worker_engine = engine
    torch.set_num_threads(1)  # the workers share the cores: one each


def work(x: Ciphertext) -> tuple[int, Ciphertext]:
    assert worker_engine is not None
    return os.getpid(), square_and_rotate(worker_engine, x)


def main() -> None:
    engine = Engine("slots4096_scale40_depth2_int64")
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)

    def progress(made: int, total: int) -> None:
        print(f"evaluation key {made} of {total}")

    engine.add_keys(engine.create_evaluation_keys(secret_key, steps=[1], progress=progress))
    messages = 2 * torch.rand(6, engine.config.num_slots, dtype=torch.float64) - 1

    # Threads: native calls release Python's lock, so they run at the same time.
    with ThreadPoolExecutor(4) as threads:
        encrypted = list(threads.map(lambda m: engine.encrypt_message(m, public_key), messages))
        in_threads = list(threads.map(lambda x: square_and_rotate(engine, x), encrypted))

    # Processes: spawned, never forked. The engine arrives as a fresh one with the same keys.
    context = multiprocessing.get_context("spawn")
    options = {"mp_context": context, "initializer": start_worker, "initargs": (engine,)}
    with ProcessPoolExecutor(2, **options) as workers:
        answers = list(workers.map(work, encrypted))
    in_workers = [result for _, result in answers]
    elsewhere = os.getpid() not in {process for process, _ in answers}

    pairs = zip(in_threads, in_workers, strict=True)
    print("computed in other processes:", elsewhere)
    print("equal bit for bit:", all(torch.equal(a.data, b.data) for a, b in pairs))
    found = engine.decrypt_message(Ciphertext.stack(in_workers), secret_key, real=True)
    error = (found - torch.roll(messages**2, 1, dims=-1)).abs().max()
    print(f"largest error: {float(error):.1e}")

    try:
        context.Process(target=print, args=(secret_key,)).start()
    except errors.SecretExposureError as refusal:
        print("the secret key stays here:", refusal.rule)


if __name__ == "__main__":
    main()
