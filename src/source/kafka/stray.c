/*
 * stray.c - messages that reached a lane which has not their tap
 *
 * librdkafka moves records to a forwarded queue under the lock that changing the forwarding takes. End-of-partition events
 * and errors it puts there after unlocking, so that one may come late: when the lane has settled, and the tap is another
 * lane's or nobody's. It must not touch that tap; nor may the event be dropped, since it comes once and its range may have
 * no other end. So it is posted here, and every lane is woken. A lane looks for strays of its own whenever its queue is
 * empty, before it waits; what nobody owns stays until somebody does.
 */
#include "source/kafka/lane.h"

#include "util/partition.h"

static pawl_partition
partition_of(const rd_kafka_message_t *message)
{
    return (pawl_partition){rd_kafka_topic_name(message->rkt), message->partition};
}

void
pawl__kafka_stray_post(pawl_source_lane *lane, rd_kafka_message_t *message)
{
    kafka_source *source = lane->source;

    /* With one lane there is no other: the message is about a partition that is read no more. */
    if (message->rkt == NULL || source->lane_count == 1) {
        rd_kafka_message_destroy(message);
        return;
    }
    pthread_mutex_lock(&source->strays_mutex);
    g_ptr_array_add(source->strays, message);
    pthread_mutex_unlock(&source->strays_mutex);
    pawl__kafka_ring(source);
}

rd_kafka_message_t *
pawl__kafka_stray_take(pawl_source_lane *lane)
{
    kafka_source *source = lane->source;
    rd_kafka_message_t *taken = NULL;

    pthread_mutex_lock(&source->strays_mutex);
    for (guint i = 0; taken == NULL && i < source->strays->len; i++) {
        pawl_partition partition = partition_of(g_ptr_array_index(source->strays, i));

        if (g_hash_table_contains(lane->own, &partition))
            taken = g_ptr_array_steal_index(source->strays, i); /* keeps the others in order */
    }
    pthread_mutex_unlock(&source->strays_mutex);
    return taken;
}

void
pawl__kafka_strays_drop(kafka_source *source, pawl_partition partition)
{
    pthread_mutex_lock(&source->strays_mutex);
    for (guint i = source->strays->len; i-- > 0;) {
        pawl_partition found = partition_of(g_ptr_array_index(source->strays, i));

        if (pawl__partition_equal(&found, &partition))
            rd_kafka_message_destroy(g_ptr_array_steal_index(source->strays, i));
    }
    pthread_mutex_unlock(&source->strays_mutex);
}
