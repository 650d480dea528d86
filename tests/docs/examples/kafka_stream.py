"""Read posts from one topic of Kafka, and send those that stay to another.

    python kafka_stream.py localhost:9092

A batch is committed when its posts are decided, on disk and sent on. After a crash it comes again, and each id gets the
answer of the first time. So no post is lost, but ``kept`` may hold a post twice, with the same key.
"""

import json
import sys

import hybriddup


def pass_on(batches, window, producer, consumer):
    """Decide batches of messages, which may be any iterable of lists, and send on the posts that stay."""
    for messages in batches:
        posts = [json.loads(message.value()) for message in messages]
        for post, decision in zip(posts, window.add_many(posts), strict=True):
            if decision.kept:
                producer.produce("kept", json.dumps(post).encode(), str(decision.id), on_delivery=check_delivery)
        if producer.flush(30) > 0:
            raise TimeoutError("the broker did not take all posts in 30 seconds")
        consumer.commit(asynchronous=False)


def check_delivery(error, message):
    if error is not None:
        raise RuntimeError(f"the broker did not take a post: {error}")


def batches_of(consumer):
    """Yield messages in batches, without those that hold an error of the client; you may want to log these."""
    while True:
        if messages := [message for message in consumer.consume(256, timeout=0.5) if message.error() is None]:
            yield messages


def main(servers):
    from confluent_kafka import Consumer, Producer

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "hybriddup", "enable.auto.commit": False})
    consumer.subscribe(["posts"])
    with hybriddup.Window.open("window", horizon="2d") as window:
        pass_on(batches_of(consumer), window, Producer({"bootstrap.servers": servers}), consumer)


if __name__ == "__main__":
    main(sys.argv[1])
