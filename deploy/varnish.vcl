vcl 4.1;

# A cache in front of the wall that sends one live stream to all followers (Varnish 6.0 and later; set SHARED_STREAM=yes
# in the wall's settings). Varnish does not support TLS: put Caddy, nginx or HAProxy in front, and set TRUST_PROXY=2.
# Each follower takes a thread, so start Varnish with
#   varnishd -a 127.0.0.1:6081 -f /etc/varnish/varnish.vcl -s malloc,256m -p pipe_timeout=250 \
#       -p thread_pool_min=500 -p thread_pool_max=10000 -p thread_queue_limit=10000
# for up to 20,000 followers, and give it 100 kB of memory and one open file for each follower (LimitNOFILE in its unit).
backend wall {
    .host = "127.0.0.1";
    .port = "8402";
    .connect_timeout = 2s;
    .first_byte_timeout = 60s;
    # The stream sends something every 15 s.
    .between_bytes_timeout = 60s;
}

sub vcl_recv {
    # All followers share one URL, whatever query a client adds to it.
    if (req.url ~ "^/api/live/shared(\?|$)") {
        set req.url = "/api/live/shared";
    # Paid or signed requests and responses for one client never pass through the cache. They are piped, so that the
    # wall notices if a buyer disconnects: the buyer's next payment then gets the first receipt, and is not charged.
    } elsif (req.method != "GET" && req.method != "HEAD") {
        return (pipe);
    } elsif (req.url !~ "^/(paint)?(\?|$)" &&
        req.url !~ "^/assets/" &&
        req.url !~ "^/api/(canvas|canvas\.bin|blocks|tail|feed|agents|history|deeds)(\?|$)" &&
        req.url !~ "^/(wall|card|blocks/[^/?]+|areas/[^/?]+)\.png(\?|$)" &&
        req.url !~ "^/(atlas|atlas\.atom|oembed|openapi\.json|sitemap\.xml|robots\.txt)(\?|$)" &&
        req.url !~ "^/(favicon\.(svg|ico)|icon\.png|manifest\.webmanifest|offline-worker\.js)(\?|$)" &&
        req.url !~ "^/(llms|llms-full|skill|SKILL)\.(txt|md)(\?|$)") {
        return (pipe);
    }
    # The wall sets no cookies. Cookies of other services on its host must not keep a response out of the cache.
    unset req.http.Cookie;
}

sub vcl_backend_response {
    # The wall decides how long a copy may be served: an older copy could show content that was hidden since.
    if (beresp.http.Cache-Control !~ "stale-while-revalidate") {
        set beresp.grace = 0s;
    }
    # Without this rule, each follower would request a stream of its own for two minutes.
    if (bereq.url == "/api/live/shared" && beresp.status != 200) {
        set beresp.ttl = 1s;
        return (deliver);
    }
}

# Responses that Varnish itself generates use the wall's messages.
sub vcl_backend_error {
    set beresp.http.Content-Type = "application/json";
    set beresp.http.Cache-Control = "no-store";
    set beresp.http.Retry-After = "2";
    set beresp.status = 503;
    synthetic({"{"error":"database_unavailable","message":"The wall is not responding right now. Send the same request again." }"});
    return (deliver);
}
