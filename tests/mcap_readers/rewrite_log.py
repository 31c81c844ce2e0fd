# rewrite_log.py FROM TO NONE|LZ4|ZSTD - the same log, written anew with the PyPI package mcap: other chunks, other ids, no order of its
# own among metadata and attachments, and no CRC of its data section.
import sys

from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    reader = make_reader(source)
    writer = Writer(target, chunk_size=30000, compression=CompressionType[sys.argv[3]])
    writer.start()
    schemas, channels = {}, {}
    for schema, channel, message in reader.iter_messages(log_time_order=False):
        if schema.id not in schemas:
            schemas[schema.id] = writer.register_schema(schema.name, schema.encoding, schema.data)
        if channel.id not in channels:
            channels[channel.id] = writer.register_channel(
                channel.topic, channel.message_encoding, schemas[schema.id], dict(channel.metadata))
        writer.add_message(channels[channel.id], message.log_time, message.data, message.publish_time, message.sequence)
    for metadata in reader.iter_metadata():
        writer.add_metadata(metadata.name, dict(reversed(metadata.metadata.items())))
    for attachment in reader.iter_attachments():
        writer.add_attachment(attachment.create_time, attachment.log_time, attachment.name, attachment.media_type,
                              attachment.data)
    writer.finish()
