"""An item pipeline for Scrapy that drops posts which repeat one of the last two days, of earlier crawls too.

Put this file next to the spider, and name it in the settings:

    ITEM_PIPELINES = {"scrapy_pipeline.DropRepeats": 300}

Items have the fields ``url`` and ``text``. Scrapy counts the dropped ones as ``item_dropped_count``.
"""

from scrapy.exceptions import DropItem

import hybriddup


class DropRepeats:
    def open_spider(self):
        self.window = hybriddup.Window.open("window", config="posts", horizon="2d")

    def process_item(self, item):
        decision = self.window.add({"id": item["url"], "text": item["text"]})
        if decision.kept:
            return item
        raise DropItem(f"repeats {decision.duplicate_of}")

    def close_spider(self):
        self.window.close()
