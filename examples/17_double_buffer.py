"""Stream tiles of weights through two fixed buffers: one is filled while the other is read."""

import torch
from common import print_table

from fhelium import Engine
from fhelium.runtime import ReusableValueBuffer, pin_value_tree

TILES = 6


def main() -> None:
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", 0) if cuda else torch.device("cpu")
    engine = Engine("slots4096_scale40_depth2_int64")
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)

    generator = torch.Generator().manual_seed(1)
    weights = torch.rand(TILES, engine.config.num_slots, generator=generator, dtype=torch.float64)
    message = torch.linspace(-1, 1, engine.config.num_slots, dtype=torch.float64)
    x = engine.encrypt_message(message, public_key, output_domain="ntt")
    tiles = [engine.prepare_plaintext(row, like=x) for row in weights]
    x = x.to(device)
    if cuda:
        tiles = [pin_value_tree(tile) for tile in tiles]  # copies from pinned memory overlap

    buffers = [ReusableValueBuffer.like(tiles[0], device=device) for _ in range(2)]
    addresses = {buffer.value.data.data_ptr() for buffer in buffers}
    transfer = torch.cuda.Stream(device) if cuda else None
    read = [None, None]  # on CUDA, the event behind the last reader of each buffer

    def fill(place: int):
        buffer, event = buffers[place % 2], read[place % 2]
        return buffer.copy_from(tiles[place], stream=transfer, wait_for=event)

    total, copied = None, fill(0)
    seen, moved = set(), 0
    for place in range(TILES):
        ahead = fill(place + 1) if place + 1 < TILES else None
        copied.wait_on()  # orders the streams; on the CPU the copy is done already
        tile = buffers[place % 2].value
        seen.add(tile.data.data_ptr())
        product = engine.multiply_plaintext(x, tile)
        total = product if total is None else engine.add(total, product)
        if cuda:
            read[place % 2] = torch.cuda.Event()
            read[place % 2].record()
        moved += copied.bytes_copied
        copied = ahead

    result = engine.rescale_to_next_depth(total).cpu()
    found = engine.decrypt_message(result, secret_key, real=True)
    error = (found - message * weights.sum(0)).abs().max()
    rows = [
        ("device", device),
        ("tiles through two buffers", TILES),
        ("bytes moved", moved),
        ("bytes that stay on the device", sum(buffer.nbytes for buffer in buffers)),
        ("addresses never changed", seen == addresses),
        ("largest error", f"{float(error):.1e}"),
    ]
    print_table(("fact", "value"), rows)
    for buffer in buffers:
        buffer.close()


if __name__ == "__main__":
    main()
