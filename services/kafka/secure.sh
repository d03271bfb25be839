# secure.sh - what start needs for a broker with TLS, passwords and ACLs
#
# All of it is made in $dir/secure, readable by its owner only, when the broker is made.

# From 4.0 on Kafka refuses the SCRAM of every librdkafka before 2.6.1, Debian's too: it sends the client's nonce twice
# (librdkafka#4895).
secure_version=3.9.1

# Who may do everything, and who may do nothing until an ACL says so.
admin=admin
user=job

is_secure() {
    [[ -e $dir/secure/authority.crt ]]
}

new_password() {
    head -c 24 /dev/urandom | base64 | tr '+/' '-_'
}

# make_certificate NAME OPTION...: a key and a certificate, in $dir/secure/NAME.key and NAME.crt
make_certificate() {
    local log=$dir/secure/openssl.log
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=pawl-$1" \
        -keyout "$dir/secure/$1.key" -out "$dir/secure/$1.crt" "${@:2}" >"$log" 2>&1 ||
        { cat "$log" >&2; die "cannot make a certificate"; }
}

# make_secrets: certificates and passwords, and a file of properties with which Kafka's own tools are the admin
make_secrets() {
    local folder=$dir/secure name
    rm -rf "$folder"
    mkdir "$folder"
    make_certificate authority
    make_certificate broker -CA "$folder/authority.crt" -CAkey "$folder/authority.key" -extensions usr_cert \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1
    cat "$folder/broker.key" "$folder/broker.crt" >"$folder/broker.pem"
    for name in "$admin" "$user"; do
        new_password >"$folder/$name.password"
    done
    cat >"$folder/admin.properties" <<PROPERTIES
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=$(jaas_config)
ssl.truststore.type=PEM
ssl.truststore.location=$folder/authority.crt
PROPERTIES
}

jaas_config() {
    echo "org.apache.kafka.common.security.scram.ScramLoginModule required" \
        "username=\"$admin\" password=\"$(<"$dir/secure/$admin.password")\";"
}

# The broker speaks to itself as the admin. Its controller's listener knows no users, and is nobody else's.
secure_properties() {
    cat <<PROPERTIES

# users, rights and TLS
inter.broker.listener.name=SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=$(jaas_config)
ssl.keystore.type=PEM
ssl.keystore.location=$dir/secure/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location=$dir/secure/authority.crt
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:$admin;User:ANONYMOUS
PROPERTIES
}

# scram_arguments: what the storage tool takes to make the users, a line each
scram_arguments() {
    local name
    for name in "$admin" "$user"; do
        printf '%s\n' --add-scram "SCRAM-SHA-512=[name=$name,password=$(<"$dir/secure/$name.password")]"
    done
}

secure_env() {
    cat <<ENV
KAFKA_CA=$dir/secure/authority.crt
KAFKA_ADMIN=$admin
KAFKA_ADMIN_PASSWORD_FILE=$dir/secure/$admin.password
KAFKA_ADMIN_CONFIG=$dir/secure/admin.properties
KAFKA_USER=$user
KAFKA_USER_PASSWORD_FILE=$dir/secure/$user.password
ENV
}

# tls_answers PORT: somebody there has a certificate of our authority
tls_answers() {
    timeout 10 openssl s_client -connect "127.0.0.1:$1" -CAfile "$dir/secure/authority.crt" -verify_return_error -brief \
        </dev/null >/dev/null 2>&1
}
